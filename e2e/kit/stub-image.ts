import type { ImageSpec } from '@crux/test-kit'

/** Answers on each port of STUB_PORTS until it is stopped, whatever its arguments say; with STUB_EXITS it ends at once, as a job does. */
const serve = `#!/bin/sh
trap 'exit 0' TERM INT
[ -z "$STUB_EXITS" ] || exit 0
for port in $STUB_PORTS; do /bin/httpd -f -p "$port" -h /www & done
while :; do sleep 3600 & wait; done
`
const succeedsWhere = (address: string) => `#!/bin/sh\nexec wget -q -O /dev/null http://127.0.0.1:${address}\n`

/** The programs that configurations of real images run. A check of a health succeeds only when the container listens on the service's port. */
const programs = {
  '/bin/serve': serve,
  '/bin/pg_isready': succeedsWhere('5432/ready'),
  '/bin/mysqladmin': succeedsWhere('3306/ready'),
  '/bin/healthcheck.sh': succeedsWhere('3306/ready'),
  '/bin/redis-cli': succeedsWhere('6379/ready'),
  '/www/ready': 'ready',
  '/www/index.html': 'answered',
}
const servicePorts: Record<string, number> = { postgres: 5432, mysql: 3306, mariadb: 3306, redis: 6379 }

type StubOptions = { ports?: number[]; exits?: boolean; files?: Record<string, string> }

/**
 * Stands for a real image, which cannot be pulled here: the same programs for all of them, so that their layers are shared.
 *
 * @param image the name of the real one, which says where a database listens
 */
export function createStubImage(image: string, { ports = [], exits = false, files }: StubOptions = {}): ImageSpec {
  const own = servicePorts[image.slice(image.lastIndexOf('/') + 1)]
  const listens = new Set(own === undefined ? ports : [...ports, own])
  return {
    entrypoint: ['/bin/serve'],
    env: { STUB_PORTS: [...listens].join(' '), STUB_EXITS: exits ? '1' : '' },
    files: { ...programs, ...files },
  }
}

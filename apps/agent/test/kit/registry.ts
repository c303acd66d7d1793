import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { waitUntil } from './wait-until.ts'

export interface TestRegistry {
  /** "127.0.0.1:port": the first part of an image's name. */
  host: string
  /** Present when the registry asks for them. */
  credentials?: { username: string; password: string }
  stop(): Promise<void>
  /** Serves again at the same address, after stop. */
  start(): Promise<void>
  /** Stops and deletes what it stored. */
  dispose(): Promise<void>
}

const credentials = { username: 'crux', password: 'crux-test' }
/** Of the password above; the registry knows bcrypt only. */
const passwordFile = 'crux:$2y$05$muk.PMRrG1tnvCq/H492V.sQpv.HsH2VWRteL8xxe1R87p4DFugua\n'

/** A real registry (Debian's docker-registry) on loopback, which engines trust without TLS. */
export async function startRegistry(options: { withPassword?: boolean } = {}): Promise<TestRegistry> {
  const folder = await mkdtemp(join(tmpdir(), 'crux-registry-'))
  const host = `127.0.0.1:${await freePort()}`
  const config = {
    version: '0.1',
    log: { level: 'error' },
    storage: { filesystem: { rootdirectory: join(folder, 'data') }, delete: { enabled: true } },
    http: { addr: host },
    ...(options.withPassword ? { auth: { htpasswd: { realm: 'crux-test', path: join(folder, 'htpasswd') } } } : {}),
  }
  await writeFile(join(folder, 'htpasswd'), passwordFile)
  // YAML is a superset of JSON.
  await writeFile(join(folder, 'config.yml'), JSON.stringify(config))
  let stopRunning: () => Promise<void> = async () => undefined

  async function start(): Promise<void> {
    const child = spawn('docker-registry', ['serve', join(folder, 'config.yml')], { stdio: 'ignore' })
    const ended = new Promise<void>((resolve) => {
      child.once('exit', () => resolve())
      child.once('error', () => resolve())
    })
    stopRunning = async () => {
      child.kill('SIGKILL')
      await ended
    }
    await waitUntil(`registry at ${host}`, () =>
      fetch(`http://${host}/v2/`).then(
        (response) => response.status === 200 || response.status === 401,
        () => false,
      ),
    )
  }
  await start()
  return {
    host,
    ...(options.withPassword ? { credentials } : {}),
    start,
    stop: () => stopRunning(),
    async dispose() {
      await stopRunning()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { answers, bindings, type FieldRow, getLabels, mountAt, type RowKit } from './row.ts'

/** Fields that both kinds of node apply. */
export async function commonRows({
  ports,
  range: first,
  images,
  hostDirectory,
  routedHost,
  encrypt,
}: RowKit): Promise<FieldRow[]> {
  const port = () => ports.pop() ?? 0
  const [plain, bound, udp] = [port(), port(), port()]
  const shell = [{ key: '/bin/sh' }, { key: '-c' }]
  return [
    {
      says: 'environment, also with empty and odd values',
      config: {
        environment: [
          { key: 'PLAIN', value: 'blue' },
          { key: 'EMPTY', value: '' },
          { key: 'ODD', value: 'a=b "c" $HOME ü' },
        ],
      },
      async check({ info, exec }) {
        expect(info.Config.Env).toEqual(expect.arrayContaining(['PLAIN=blue', 'EMPTY=', 'ODD=a=b "c" $HOME ü']))
        expect((await exec('/bin/env')).split('\n')).toEqual(expect.arrayContaining(['EMPTY=', 'ODD=a=b "c" $HOME ü']))
      },
    },
    {
      says: 'secrets, readable in the container alone',
      config: {
        environment: [{ key: 'BOTH', value: 'from-environment' }],
        secrets: [
          { key: 'TOKEN', required: true, value: await encrypt('very-secret'), encrypted: true },
          { key: 'BOTH', required: false, value: await encrypt('weaker'), encrypted: true },
          { key: 'UNSET', required: false },
        ],
      },
      async check({ info, exec, testEnvironment, short }) {
        const env = (await exec('/bin/env')).split('\n')
        expect(env).toEqual(expect.arrayContaining(['TOKEN=very-secret', 'BOTH=from-environment']))
        expect(env.some((line) => line.startsWith('UNSET'))).toBe(false)
        expect(info.Config.Labels?.['dev.crux.secret.keys']).toBe('TOKEN,BOTH,UNSET')
        const answer = await testEnvironment.server.ask({
          case: 'inspectContainer',
          value: { container: { prefix: testEnvironment.owner.prefix, name: short } },
        })
        const json = answer.case === 'inspection' ? answer.value.json : ''
        expect(json).toContain('TOKEN=***')
        expect(json).not.toContain('very-secret')
      },
    },
    {
      says: 'user',
      config: { user: 1_000 },
      async check({ info, exec }) {
        expect(info.Config.User).toBe('1000')
        expect((await exec('/bin/id', '-u')).trim()).toBe('1000')
      },
    },
    {
      says: 'user -1, which is the one of the image',
      config: { user: -1 },
      image: images.user,
      async check({ exec }) {
        expect((await exec('/bin/id', '-u')).trim()).toBe('7')
      },
    },
    {
      says: 'workingDirectory, made where the image has none',
      config: { workingDirectory: '/srv/here' },
      async check({ info, exec }) {
        expect(info.Config.WorkingDir).toBe('/srv/here')
        expect((await exec('/bin/sh', '-c', 'echo $PWD')).trim()).toBe('/srv/here')
      },
    },
    {
      says: 'stopGracePeriodSeconds',
      config: { stopGracePeriodSeconds: 2 },
      check: ({ info }) => expect(info.Config).toMatchObject({ StopTimeout: 2 }),
    },
    {
      says: 'stopGracePeriodSeconds 0, which kills at once',
      config: { stopGracePeriodSeconds: 0 },
      check: ({ info }) => expect(info.Config).toMatchObject({ StopTimeout: 0 }),
    },
    { says: 'tty', config: { tty: true }, check: ({ info }) => expect(info.Config.Tty).toBe(true) },
    {
      says: 'commands and args, with spaces and quotes as they are',
      alone: true,
      config: { commands: shell, args: [{ key: `echo "two  words" > /tmp/said; exec /bin/sleep 1000` }] },
      async check({ info, exec }) {
        expect(info.Config).toMatchObject({
          Entrypoint: ['/bin/sh', '-c'],
          Cmd: [`echo "two  words" > /tmp/said; exec /bin/sleep 1000`],
        })
        expect((await exec('/bin/cat', '/tmp/said')).trim()).toBe('two  words')
      },
    },
    {
      says: 'args alone, which follow the entrypoint of the image',
      alone: true,
      config: { args: [{ key: '/bin/sleep' }, { key: '999' }] },
      check: ({ info }) => expect(info).toMatchObject({ Path: '/bin/sleep', Args: ['999'] }),
    },
    {
      says: 'ports: published, on one address, UDP, and only exposed',
      config: {
        ports: [
          { internal: 8080, external: plain },
          { internal: 8081, external: bound, bindAddress: '127.0.0.2' },
          { internal: 53, external: udp, protocol: 'udp' },
          { internal: 9000 },
        ],
      },
      async check(seen) {
        expect(bindings(seen)).toEqual({
          '8080/tcp': [{ HostIp: '', HostPort: String(plain) }],
          '8081/tcp': [{ HostIp: '127.0.0.2', HostPort: String(bound) }],
          '53/udp': [{ HostIp: '', HostPort: String(udp) }],
        })
        expect(Object.keys(seen.info.Config.ExposedPorts)).toContain('9000/tcp')
        await answers(plain)
      },
    },
    {
      says: 'portRanges, pairwise and with both ends',
      config: {
        ports: [],
        portRanges: [{ internal: { from: 8080, to: 8082 }, external: { from: first, to: first + 2 } }],
      },
      async check(seen) {
        expect(Object.entries(bindings(seen)).map(([key, value]) => [key, value])).toEqual(
          [0, 1, 2].map((at) => [`${8080 + at}/tcp`, [{ HostIp: '', HostPort: String(first + at) }]]),
        )
        await answers(first)
      },
    },
    {
      says: 'volumes of every type',
      config: {
        volumes: [
          { name: 'one', path: '/ro', type: 'ro' },
          { name: 'two.deep', path: '/rwo', type: 'rwo' },
          { name: 'three', path: '/rwx', type: 'rwx' },
          { name: 'default', path: '/default' },
          { name: 'fast', path: '/mem', type: 'mem', size: '2Mi' },
          { name: 'scratch', path: '/tmpfs', type: 'tmp', size: '1M' },
          { name: hostDirectory, path: '/host', type: 'ro' },
        ],
      },
      async check(seen) {
        const { testEnvironment, short, exec } = seen
        const own = join(testEnvironment.dataDir, testEnvironment.owner.prefix, short)
        for (const [target, name, writable] of [
          ['/ro', 'one', false],
          ['/rwo', 'two.deep', true],
          ['/rwx', 'three', true],
          ['/default', 'default', true],
        ] as const)
          expect(mountAt(seen, target)).toMatchObject({ Type: 'bind', Source: join(own, name), RW: writable })
        expect(mountAt(seen, '/host')).toMatchObject({ Type: 'bind', Source: hostDirectory, RW: false })
        const shown = await exec(
          '/bin/sh',
          '-c',
          'echo x > /rwo/x; touch /ro/x || echo read-only; df -k /mem | tail -n 1; df -k /tmpfs | tail -n 1',
        )
        expect(await readFile(join(own, 'two.deep', 'x'), 'utf8')).toBe('x\n')
        expect(shown).toContain('read-only')
        expect(shown).toMatch(/tmpfs\s+2048\s/)
        expect(shown).toMatch(/tmpfs\s+(976|980)\s/)
      },
    },
    {
      says: 'initContainers, whose files the container finds',
      config: {
        volumes: [{ name: 'data', path: '/data', type: 'ro' }],
        initContainers: [
          {
            name: 'fill',
            image: images.tool,
            command: shell,
            args: [{ key: 'echo $COLOUR > /v/file' }],
            environment: [{ key: 'COLOUR', value: 'red' }],
            volumes: [{ name: 'data', path: '/v' }],
          },
        ],
      },
      check: async ({ exec }) => expect((await exec('/bin/cat', '/data/file')).trim()).toBe('red'),
    },
    {
      says: 'configContainer, whose files the container finds',
      config: {
        volumes: [{ name: 'conf', path: '/conf', type: 'ro' }],
        configContainer: { image: images.bare, volume: 'conf', path: '/etc/app', keepFiles: false },
      },
      check: async ({ exec }) => expect((await exec('/bin/cat', '/conf/app.conf')).trim()).toBe('from the image'),
    },
    {
      says: 'expose with TLS and routing: several hosts, path, stripping, upload limit, port',
      config: {
        ports: [{ internal: 8080 }],
        expose: 'exposeWithTls',
        routing: {
          domain: `a.${routedHost}, b.${routedHost}`,
          path: '/app',
          stripPath: true,
          uploadLimit: '10MB',
          port: 8080,
        },
      },
      check(seen) {
        const full = seen.testEnvironment.name(seen.short)
        const rule = `(Host(\`a.${routedHost}\`) || Host(\`b.${routedHost}\`)) && PathPrefix(\`/app\`)`
        const middlewares = `${full}-stripper,${full}-limit`
        expect(getLabels(seen)).toMatchObject({
          'traefik.enable': 'true',
          [`traefik.http.routers.${full}.rule`]: rule,
          [`traefik.http.routers.${full}.entrypoints`]: 'web',
          [`traefik.http.routers.${full}.middlewares`]: middlewares,
          [`traefik.http.middlewares.${full}-stripper.stripprefix.prefixes`]: '/app',
          [`traefik.http.middlewares.${full}-limit.buffering.maxRequestBodyBytes`]: '10000000',
          [`traefik.http.services.${full}.loadbalancer.server.port`]: '8080',
          [`traefik.http.routers.${full}-secure.rule`]: rule,
          [`traefik.http.routers.${full}-secure.entrypoints`]: 'websecure',
          [`traefik.http.routers.${full}-secure.tls`]: 'true',
          [`traefik.http.routers.${full}-secure.tls.certresolver`]: 'le',
          [`traefik.http.routers.${full}-secure.middlewares`]: middlewares,
        })
      },
    },
    {
      says: 'expose without TLS, by a host alone, and over another network mode',
      config: { expose: 'expose', routing: { domain: `c.${routedHost}` }, networkMode: 'none' },
      check(seen) {
        const full = seen.testEnvironment.name(seen.short)
        const labels = getLabels(seen)
        expect(labels[`traefik.http.routers.${full}.rule`]).toBe(`Host(\`c.${routedHost}\`)`)
        expect(Object.keys(labels).filter((key) => key.includes('-secure') || key.includes('middlewares'))).toEqual([])
        expect(labels['traefik.docker.network']).toBe(seen.info.HostConfig.NetworkMode)
      },
    },
    {
      says: 'expose none, which is no route at all',
      config: { expose: 'none', routing: { domain: 'a.example.com' } },
      check: (seen) => expect(Object.keys(getLabels(seen)).filter((key) => key.startsWith('traefik'))).toEqual([]),
    },
    {
      says: "healthCheckConfig: a command becomes the engine's own check",
      config: {
        healthCheckConfig: {
          command: 'wget -q -O /dev/null http://127.0.0.1:8080/',
          intervalSeconds: 1,
          timeoutSeconds: 5,
          startPeriodSeconds: 2,
          retries: 4,
        },
      },
      check({ info }) {
        expect(info.Config.Healthcheck).toEqual({
          Test: ['CMD-SHELL', 'wget -q -O /dev/null http://127.0.0.1:8080/'],
          Interval: 1e9,
          Timeout: 5e9,
          StartPeriod: 2e9,
          Retries: 4,
        })
        expect(info.State.Health?.Status).toBe('healthy')
      },
    },
    {
      says: "healthCheckConfig: times alone change those of the image's check",
      config: { healthCheckConfig: { intervalSeconds: 1, retries: 9 } },
      image: images.checked,
      check({ info }) {
        expect(info.Config.Healthcheck).toMatchObject({ Test: ['CMD-SHELL', 'true'], Interval: 1e9, Retries: 9 })
        expect(info.State.Health?.Status).toBe('healthy')
      },
    },
    {
      says: 'healthCheckConfig: the form exec runs its arguments without a shell',
      config: {
        healthCheckConfig: {
          test: 'exec',
          arguments: [{ key: 'test' }, { key: '-d' }, { key: '/' }],
          intervalSeconds: 1,
        },
      },
      check({ info }) {
        expect(info.Config.Healthcheck).toMatchObject({ Test: ['CMD', 'test', '-d', '/'], Interval: 1e9 })
        expect(info.State.Health?.Status).toBe('healthy')
      },
    },
    {
      says: "healthCheckConfig: the form none switches the image's check off",
      config: { healthCheckConfig: { test: 'none' } },
      image: images.checked,
      check({ info }) {
        expect(info.Config.Healthcheck?.Test).toEqual(['NONE'])
        expect(info.State.Health?.Status).toBeUndefined()
      },
    },
    {
      says: 'healthCheckConfig: probes are asked by the agent, startup before readiness',
      config: { healthCheckConfig: { port: 8080, startupProbe: '/index.html', readinessProbe: 'ready.html' } },
      check({ reported }) {
        expect(reported).toContain(
          'waits for GET /index.html on port 8080 and GET /ready.html on port 8080, at most 60 s',
        )
      },
    },
    {
      says: 'resourceConfig: limits, with no swap beyond them',
      config: {
        resourceConfig: { limits: { cpu: '500m', memory: '64Mi' }, requests: { cpu: '0.25', memory: '32Mi' } },
      },
      async check({ info, exec }) {
        expect(info.HostConfig).toMatchObject({
          NanoCpus: 5e8,
          Memory: 64 * 1_024 ** 2,
          MemorySwap: 64 * 1_024 ** 2,
          CpuShares: 256,
          MemoryReservation: 32 * 1_024 ** 2,
        })
        const files = '/sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max'
        expect((await exec('/bin/sh', '-c', `cat ${files} 2>/dev/null`)).trim()).toBe(String(64 * 1_024 ** 2))
      },
    },
  ]
}

import type { ContainerConfigFields, FinalContainerConfig } from '@crux/contract'
import fc from 'fast-check'

export type ArbitraryConfigOptions = {
  /**
   * Only settings that a plain container accepts on any machine with Docker: no commands, no host network, no health checks, no log driver that needs
   * a server, no other image. The caller chooses what runs in it.
   */
  runnable?: boolean
  /** Host ports that may be published; by default none for runnable configurations, and all above 1024 for others. */
  hostPorts?: readonly number[]
  /** The prefix of the names of networks; at most 3, because an engine has few address ranges. */
  networkName?: string
}
type Fields = FinalContainerConfig

/** A merged configuration that `validateConfig(config, { whole: true, nodeType: 'docker' })` accepts. */
export function arbitraryConfig(options: ArbitraryConfigOptions = {}): fc.Arbitrary<Fields> {
  const { runnable = false } = options
  return fc
    .record({ plain: plainFields(options), volumes: arbitraryVolumes(runnable), ports: arbitraryPorts(options) })
    .chain(({ plain, volumes, ports }) =>
      (runnable ? fc.constant({}) : dependingFields(volumes, ports)).map((depending) => ({
        ...present(plain),
        ...ports,
        volumes,
        ...present(depending),
      })),
    ) as fc.Arbitrary<Fields>
}

/** One layer: some of the settings, including removed keys, and empty values that set nothing. */
export function arbitraryLayer(): fc.Arbitrary<ContainerConfigFields> {
  return fc
    .record({
      config: arbitraryConfig(),
      left: fc.subarray(['ports', 'volumes', 'environment', 'name', 'networks', 'dockerLabels', 'args', 'commands']),
      removed: fc.uniqueArray(envKey, { maxLength: 2 }),
      unset: fc.subarray(['tty', 'user', 'args', 'expectedState', 'resourceConfig']),
    })
    .map(({ config, left, removed, unset }) => {
      const layer: ContainerConfigFields = { ...config }
      for (const field of left) delete layer[field as 'name']
      if (left.includes('ports'))
        for (const field of ['portRanges', 'routing', 'metrics', 'portGate'] as const) delete layer[field]
      for (const field of unset) Object.assign(layer, { [field]: field === 'user' ? -1 : field === 'args' ? [] : null })
      const kept = (layer.environment ?? []).filter(({ key }) => !removed.includes(key))
      if (removed.length > 0) layer.environment = [...kept, ...removed.map((key) => ({ key, value: null }))]
      return layer
    })
}

const text = (maxLength: number) =>
  fc.string({ unit: 'grapheme', maxLength }).map((value) => value.replaceAll('\0', ''))
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 })
const word = fc.stringMatching(/^[a-z][a-z0-9]{0,7}$/)
const envKey = fc.stringMatching(/^[A-Z][A-Z0-9_]{0,9}$/)
const labelKey = fc.stringMatching(/^[a-z]{1,6}\.[a-z]{1,6}$/)
const directory = fc.stringMatching(/^\/[a-z]{1,6}\/[a-z]{1,6}$/)
const address = fc.constantFrom('127.0.0.1', '127.0.0.2', '0.0.0.0')
const image = fc.constantFrom('busybox', 'library/app:1.2', 'localhost:5000/team/app:latest')
const rows = <T>(row: fc.Arbitrary<T>, key: (one: T) => unknown, maxLength = 4) =>
  fc.uniqueArray(row, { selector: key, maxLength })
const keyed = (key: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
  rows(fc.record({ key, value }), (row) => row.key)
const amount = (from: number, to: number) => fc.integer({ min: from, max: to })

function plainFields({ runnable = false, networkName = 'net' }: ArbitraryConfigOptions) {
  const capability = runnable
    ? ['CHOWN', 'KILL', 'NET_RAW', 'SETUID', 'MKNOD']
    : ['CHOWN', 'NET_ADMIN', 'SYS_PTRACE', 'SYS_TIME', 'ALL']
  return fc.record({
    name: fc.stringMatching(/^[a-z][a-z0-9]{1,7}$/),
    environment: keyed(envKey, text(20)),
    secrets: runnable
      ? fc.constant([])
      : rows(fc.record({ key: envKey.map((key) => `S_${key}`), required: fc.constant(true) }), (row) => row.key),
    user: maybe(amount(0, 65_535)),
    workingDirectory: maybe(directory),
    tty: maybe(fc.boolean()),
    commands: runnable ? fc.constant([]) : argumentRows,
    args: runnable ? fc.constant([]) : argumentRows,
    capabilities: maybe(
      rows(fc.record({ key: fc.constantFrom(...capability), value: fc.constantFrom('add', 'drop') }), (row) => row.key),
    ),
    ulimits: maybe(rows(ulimit, (row) => row.key)),
    shmSize: maybe(amount(1, 64).map((size) => `${size}Mi`)),
    extraHosts: maybe(
      rows(
        fc.record({
          key: word.map((name) => `${name}.internal`),
          value: fc.constantFrom('10.1.2.3', 'fd00::1', 'host-gateway'),
        }),
        (row) => row.key,
      ),
    ),
    networks: rows(amount(1, 3), (number) => number, 3).map((numbers) =>
      numbers.map((number) => ({ key: `${networkName}-${number}` })),
    ),
    dockerLabels: keyed(labelKey, text(20)),
    logConfig: maybe(logConfig(runnable)),
    stopSignal: maybe(fc.constantFrom('SIGTERM', 'SIGINT', 'SIGRTMIN+3', '15')),
    stopGracePeriodSeconds: maybe(amount(0, 5)),
    restartPolicy: maybe(fc.constantFrom('no', 'always', 'onFailure', 'unlessStopped')),
    resourceConfig: maybe(resources),
    expectedState: maybe(
      fc.record({
        state: runnable ? fc.constant('running') : fc.constantFrom('running', 'exited'),
        timeout: amount(30, 300),
      }),
    ),
    healthCheckConfig: maybe(
      fc
        .record({
          test: fc.constantFrom('shell', 'exec', 'none'),
          intervalSeconds: amount(1, 60),
          timeoutSeconds: amount(1, 60),
          startPeriodSeconds: maybe(amount(1, 60)),
          retries: amount(1, 10),
        })
        .map(({ test, ...times }) => ({
          ...(test === 'none' ? {} : times),
          test: test === 'shell' ? undefined : test,
          ...(test === 'shell' && { command: 'test -d /' }),
          ...(test === 'exec' && { arguments: [{ key: 'test' }, { key: '-d' }, { key: '/' }] }),
        })),
    ),
    ...(runnable ? {} : kubernetesFields),
  })
}

const argumentRows = fc.array(fc.record({ key: text(10).map((value) => value.trim() || '-') }), { maxLength: 4 })
const ulimit = fc
  .record({
    key: fc.constantFrom('nofile', 'nproc', 'core', 'msgqueue'),
    soft: amount(256, 1_024),
    more: amount(0, 1_024),
  })
  .map(({ key, soft, more }) => ({ key, soft, hard: soft + more }))
const resources = fc
  .record({
    cpu: amount(50, 900),
    memory: amount(16, 256),
    share: amount(2, 4),
    sides: fc.constantFrom('limits', 'requests', 'both'),
  })
  .map(({ cpu, memory, share, sides }) => ({
    ...(sides !== 'requests' && { limits: { cpu: `${cpu}m`, memory: `${memory}Mi` } }),
    ...(sides !== 'limits' && {
      requests: { cpu: `${cpu / 1_000 / share}`.slice(0, 6), memory: `${Math.ceil(memory / share) + 2}Mi` },
    }),
  }))

function logConfig(runnable: boolean) {
  const files = fc.record({ size: amount(1, 9), count: amount(2, 5) }).map(({ size, count }) => [
    { key: 'max-size', value: `${size}m` },
    { key: 'max-file', value: `${count}` },
  ])
  const local = fc.record({ driver: fc.constantFrom('json-file', 'local'), options: fc.oneof(fc.constant([]), files) })
  const none = fc.constant({ driver: runnable ? 'nodeDefault' : 'none', options: [] })
  const remote = fc.constant({ driver: 'syslog', options: [{ key: 'syslog-address', value: 'udp://logs:514' }] })
  return runnable ? fc.oneof(local, none) : fc.oneof(local, none, remote)
}

export const kubernetesFields = {
  deploymentStrategy: maybe(fc.constantFrom('recreate', 'rolling')),
  replicas: maybe(amount(1, 100)),
  customHeaders: maybe(rows(fc.record({ key: word.map((name) => `X-${name}`) }), (row) => row.key)),
  proxyHeaders: maybe(fc.boolean()),
  useLoadBalancer: maybe(fc.boolean()),
  extraLBAnnotations: maybe(keyed(labelKey, word)),
  labels: maybe(fc.record({ deployment: keyed(labelKey, word), service: keyed(labelKey, word) }, { requiredKeys: [] })),
  annotations: maybe(fc.record({ ingress: keyed(labelKey, text(10)) }, { requiredKeys: [] })),
  networkMode: maybe(fc.constant('bridge')),
}

const volumeTypes = ['ro', 'rwo', 'rwx', 'mem', 'tmp'] as const
function arbitraryVolumes(runnable: boolean) {
  const volume = fc
    .record({ name: word, path: directory, type: fc.constantFrom(...volumeTypes), size: amount(1, 64) })
    .map(({ name, path, type, size }) => ({
      name,
      path,
      type,
      ...((type === 'mem' || type === 'tmp' || !runnable) && { size: `${size}Mi` }),
    }))
  // A path inside the directory of another one would be mounted over it.
  return fc.uniqueArray(volume, { comparator: (a, b) => a.name === b.name || a.path === b.path, maxLength: 4 })
}

/** Single ports below 10,000, ranges above, each host port once. */
function arbitraryPorts({ runnable = false, hostPorts }: ArbitraryConfigOptions) {
  const outside = hostPorts ?? (runnable ? [] : Array.from({ length: 200 }, (_, index) => 20_000 + index))
  return fc
    .record({
      internal: rows(amount(1, 9_999), (port) => port),
      external: fc.shuffledSubarray([...outside], { maxLength: Math.min(4, outside.length) }),
      details: fc.array(
        fc.record({ protocol: fc.constantFrom(undefined, 'tcp', 'udp'), bindAddress: maybe(address) }),
        {
          minLength: 4,
          maxLength: 4,
        },
      ),
      ranges: runnable ? fc.constant<number[]>([]) : rows(amount(1, 6), (place) => place, 2),
      length: amount(0, 5),
      gate: runnable ? fc.constant(false) : fc.boolean(),
      proxyProtocol: maybe(fc.constantFrom('v1', 'v2')),
    })
    .map(({ internal, external, details, ranges, length, gate, proxyProtocol }) => {
      const ports = internal.map((port, index) => {
        const { protocol, bindAddress } = details[index] ?? {}
        const published = external[index]
        const gated = gate && published && protocol !== 'udp'
        return present({
          internal: port,
          external: published,
          protocol,
          bindAddress: published ? bindAddress : undefined,
          proxyProtocol: gated ? proxyProtocol : undefined,
        })
      })
      const canGate = ports.some((port) => port.external && port.protocol !== 'udp')
      return {
        ports,
        portRanges: ranges.map((place) => ({
          internal: { from: 10_000 * place, to: 10_000 * place + length },
          external: { from: 1_500 * place, to: 1_500 * place + length },
        })),
        ...(gate && canGate && { portGate: { enabled: true, drainSeconds: 5 } }),
      }
    })
}

/** Fields that refer to an existing volume or port. */
function dependingFields(
  volumes: readonly { name: string; type: string }[],
  { ports }: { ports: readonly { internal?: number }[] },
) {
  const disks = volumes.filter(({ type }) => type !== 'mem' && type !== 'tmp').map(({ name }) => name)
  const disk = oneOf(disks)
  const port = oneOf(ports.flatMap(({ internal }) => (internal ? [internal] : [])))
  return fc.record({
    expose: maybe(fc.constantFrom('none', 'expose', 'exposeWithTls')),
    ...(ports.length > 0 && {
      routing: maybe(
        fc.record({
          domain: fc.constantFrom('shop.example.com', 'a.example.com,b.example.com', 'localhost'),
          path: fc.constantFrom('', '/', '/api'),
          stripPath: fc.boolean(),
          uploadLimit: fc.constantFrom('', '10mb', '1048576'),
          port,
        }),
      ),
      metrics: maybe(fc.record({ enabled: fc.boolean(), path: fc.constantFrom('/metrics'), port })),
    }),
    ...(disks.length > 0 && {
      configContainer: maybe(fc.record({ image, volume: disk, path: directory, keepFiles: fc.boolean() })),
      storage: maybe(
        fc.record({
          storageId: fc.constant('0199f0e0-0000-7000-8000-000000000001'),
          bucket: fc.constantFrom('assets', 'assets/v1'),
          path: disk,
        }),
      ),
    }),
    initContainers: maybe(rows(initContainer(disks), (init) => init.name, 2)),
  })
}

const oneOf = <T>(values: readonly T[]): fc.Arbitrary<T | undefined> =>
  values.length > 0 ? fc.constantFrom(...values) : fc.constant(undefined)

const initContainer = (disks: readonly string[]) =>
  fc.record({
    name: word,
    image,
    command: argumentRows,
    args: argumentRows,
    environment: keyed(envKey, text(10)),
    useParentConfig: fc.boolean(),
    volumes:
      disks.length > 0
        ? rows(fc.record({ name: fc.constantFrom(...disks), path: directory }), (row) => row.path, 2)
        : fc.constant([]),
  })

/** Drops undefined properties, as in parsed JSON. */
const present = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as T

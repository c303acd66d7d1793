import type { FinalContainerConfig } from '@crux/contract'
import fc from 'fast-check'
import { arbitraryConfig, kubernetesFields } from './arbitrary-config.ts'

export type DeployableOptions = {
  /** Free TCP ports of the node, at least two; each is published at most once. */
  hostPorts: readonly number[]
  /** A free range of the node. */
  hostRange: { from: number; to: number }
  /** The prefix of the names of networks, and the routed domain; unique on the engine. */
  networkName: string
  /** Contains a shell, and `index.html` in `/www`. */
  image: string
  /** A storage whose bucket contains one object `object.txt`; absent if there is none. */
  storage?: { storageId: string; bucket: string }
}

/** Waits for the stop signal without a port of its own. */
const waits = "trap 'exit 0' TERM INT; while :; do sleep 3600 & wait; done"
export const exitCode = 7

const line = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 }).map((text) => text.replaceAll('\0', '-'))
const lines = fc.array(line, { maxLength: 3 })
const word = fc.stringMatching(/^[a-z][a-z0-9]{0,7}$/)
const secretKey = fc.stringMatching(/^S_[A-Z][A-Z0-9_]{0,8}$/)
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const getRows = (texts: readonly string[]) => texts.map((key) => ({ key }))

/**
 * Configurations that use every field of the contract and still reach their expected state: the process is fixed, everything else is random. The
 * image answers HTTP on 8080 where nothing else is started. Values of secrets are plain; the caller encrypts them.
 */
export function arbitraryDeployable(options: DeployableOptions): fc.Arbitrary<FinalContainerConfig> {
  const { hostPorts, hostRange, networkName, image, storage } = options
  return fc
    .record({
      base: arbitraryConfig({ runnable: true, hostPorts: hostPorts.slice(1), networkName }),
      more: fc.record({
        ...kubernetesFields,
        networkMode: fc.constantFrom(undefined, undefined, 'bridge', 'none', 'host'),
        expose: fc.constantFrom(undefined, 'none', 'expose', 'exposeWithTls'),
      }),
      program: fc.constantFrom('image', 'image', 'args', 'commands', 'exits'),
      texts: lines,
      secrets: fc.uniqueArray(
        fc.record({ key: secretKey, required: fc.boolean(), value: fc.stringMatching(/^[!-~][ -~]{0,19}$/) }),
        { selector: ({ key }) => key, maxLength: 3 },
      ),
      gate: maybe(
        fc.record({ drainSeconds: fc.integer({ min: 0, max: 30 }), proxyProtocol: maybe(fc.constantFrom('v1', 'v2')) }),
      ),
      ranges: fc.boolean(),
      probe: fc.constantFrom(undefined, 'startupProbe', 'readinessProbe', 'livenessProbe'),
      routing: maybe(
        fc.record({
          hosts: fc.uniqueArray(word, { minLength: 1, maxLength: 2 }),
          path: fc.constantFrom('', '/', '/api'),
          stripPath: fc.boolean(),
          uploadLimit: fc.constantFrom('', '10mb', '1048576'),
        }),
      ),
      metrics: maybe(fc.record({ enabled: fc.boolean(), path: fc.constant('/metrics') })),
      keepFiles: maybe(fc.boolean()),
      imports: fc.boolean(),
      inits: fc.uniqueArray(
        fc.record({ name: word, value: line, withParent: fc.boolean(), texts: lines, links: fc.boolean() }),
        { selector: ({ name }) => name, maxLength: 2 },
      ),
    })
    .map(
      ({ base, more, program, texts, secrets, gate, ranges, probe, routing, metrics, keepFiles, imports, inits }) => {
        const isWeb = program === 'image'
        const isExposed = more.expose === 'expose' || more.expose === 'exposeWithTls'
        const networkMode =
          isExposed || isWeb ? (more.networkMode === 'bridge' ? 'bridge' : undefined) : more.networkMode
        const isGated = gate !== undefined && isWeb
        const ports = isGated
          ? [
              {
                internal: 8080,
                external: hostPorts[0] ?? 0,
                ...(gate.proxyProtocol === undefined ? {} : { proxyProtocol: gate.proxyProtocol }),
              },
            ]
          : base.ports.filter(({ internal }) => internal !== 8080)
        const port = ports[0]?.internal
        const disks = base.volumes.filter(({ type }) => type !== 'mem' && type !== 'tmp').map(({ name }) => name)
        const [forConfig, forImport] = disks
        return defined({
          ...base,
          ...more,
          networkMode,
          ...toProgram(program, texts),
          ports,
          portRanges:
            ranges && !isGated && (networkMode === undefined || networkMode === 'bridge')
              ? [{ internal: { from: 30_000, to: 30_000 + hostRange.to - hostRange.from }, external: hostRange }]
              : [],
          secrets,
          portGate: isGated ? { enabled: true, drainSeconds: gate.drainSeconds } : undefined,
          expectedState: program === 'exits' ? { state: 'exited', timeout: 60, exitCode } : base.expectedState,
          restartPolicy: program === 'exits' ? 'no' : base.restartPolicy,
          healthCheckConfig: toHealth(base.healthCheckConfig, program, isWeb && !isGated ? probe : undefined),
          expose: routing ? more.expose : more.expose === 'none' ? 'none' : undefined,
          routing: routing && {
            domain: routing.hosts.map((host) => `${host}.${base.name}.${networkName}.example.com`).join(','),
            path: routing.path,
            stripPath: routing.stripPath,
            uploadLimit: routing.uploadLimit,
            ...(port === undefined ? {} : { port }),
          },
          metrics: port === undefined ? undefined : metrics && { ...metrics, port },
          configContainer:
            keepFiles === undefined || forConfig === undefined
              ? undefined
              : { image, volume: forConfig, path: '/www', keepFiles },
          storage: storage && imports && forImport !== undefined ? { ...storage, path: forImport } : undefined,
          initContainers: inits.map(({ name, value, withParent, texts: given, links }) => ({
            name,
            image,
            command: getRows(['/bin/sh', '-c']),
            // Tests find the received value in the volume afterwards.
            args: getRows([`if test -d /linked; then printf %s "$VALUE" > /linked/init-${name}; fi`, ...given]),
            environment: [{ key: 'VALUE', value }],
            useParentConfig: withParent,
            volumes: links && forConfig !== undefined ? [{ name: forConfig, path: '/linked' }] : [],
          })),
        }) as FinalContainerConfig
      },
    )
}

function toProgram(program: string, texts: readonly string[]): Pick<FinalContainerConfig, 'commands' | 'args'> {
  switch (program) {
    case 'args':
      return { commands: [], args: getRows(['/bin/sh', '-c', waits, ...texts]) }
    case 'commands':
      return { commands: getRows(['/bin/sh', '-c', waits]), args: getRows(texts) }
    case 'exits':
      return { commands: getRows(['/bin/sh', '-c', `exit ${exitCode}`]), args: getRows(texts) }
    default:
      return { commands: [], args: [] }
  }
}

/** A container that has ended gets no health check. The first check runs after the interval, for which a start waits. */
function toHealth(
  health: FinalContainerConfig['healthCheckConfig'],
  program: string,
  probe: string | undefined,
): FinalContainerConfig['healthCheckConfig'] {
  if (program === 'exits') return undefined
  if (probe) return { [probe]: '/index.html?a=%E6%97%A5', port: 8080 }
  return health && { ...health, intervalSeconds: 1 }
}

const defined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as T

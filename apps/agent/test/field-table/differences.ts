import type { FinalContainerConfig } from '@crux/contract'
import type Docker from 'dockerode'

type Part = [what: string, wanted: unknown, found: unknown]

/** Where a container differs from its configuration. Says by itself what Docker must show; it shares no code with the agent. */
export function differences(config: FinalContainerConfig, info: Docker.ContainerInspectInfo): string[] {
  const { Config, HostConfig } = info
  // The types of dockerode leave these out.
  const stop = Config as { StopSignal?: string; StopTimeout?: number }
  const env = new Map((Config.Env ?? []).map((line) => [line.slice(0, line.indexOf('=')), line]))
  const parts: Part[] = [
    ['state', 'running', info.State.Status],
    ...config.environment.map(({ key, value }): Part => [`environment ${key}`, `${key}=${value}`, env.get(key)]),
    ['user', config.user === undefined || config.user === null ? '' : String(config.user), Config.User],
    ['workingDirectory', config.workingDirectory ?? '', Config.WorkingDir],
    ['tty', config.tty ?? false, Config.Tty],
    ['ports', portsWanted(config), HostConfig.PortBindings ?? {}],
    ...config.ports.map(({ internal, protocol }): Part => {
      const key = `${internal}/${protocol ?? 'tcp'}`
      return ['exposed', key, Object.keys(Config.ExposedPorts ?? {}).find((name) => name === key)]
    }),
    ...config.volumes.flatMap(({ name, path, type, size }): Part[] => {
      const mount = info.Mounts.find(({ Destination }) => Destination === path)
      const inMemory = type === 'mem' || type === 'tmp'
      const options = HostConfig.Mounts?.find(({ Target }) => Target === path)
      return [
        [`volume ${name}`, inMemory ? 'tmpfs' : 'bind', mount?.Type],
        [`volume ${name} may be written`, type !== 'ro', mount?.RW],
        inMemory
          ? [`volume ${name} size`, bytes(size), options?.TmpfsOptions?.SizeBytes]
          : [`volume ${name} place`, true, mount?.Source.endsWith(`/${config.name}/${name}`)],
      ]
    }),
    ['capabilities added', keysOf(config, 'add'), [...(HostConfig.CapAdd ?? [])].sort()],
    ['capabilities dropped', keysOf(config, 'drop'), [...(HostConfig.CapDrop ?? [])].sort()],
    [
      'ulimits',
      (config.ulimits ?? []).map(({ key, soft, hard }) => ({ Name: key, Soft: soft, Hard: hard })),
      HostConfig.Ulimits ?? [],
    ],
    ['stopSignal', config.stopSignal ?? undefined, stop.StopSignal],
    ['stopGracePeriodSeconds', config.stopGracePeriodSeconds ?? undefined, stop.StopTimeout],
    ['shmSize', bytes(config.shmSize) ?? 64 * 1_024 ** 2, HostConfig.ShmSize],
    [
      'extraHosts',
      ['host.docker.internal:host-gateway', ...(config.extraHosts ?? []).map(({ key, value }) => `${key}:${value}`)],
      HostConfig.ExtraHosts,
    ],
    ...config.networks.map(({ key }): Part => {
      const joined = Object.keys(info.NetworkSettings.Networks)
      return [`network ${key}`, true, joined.some((name) => new RegExp(`^crux-team-[0-9a-f]{8}-${key}$`).test(name))]
    }),
    ...config.dockerLabels.map(({ key, value }): Part => [`label ${key}`, value, Config.Labels[key]]),
    ...logParts(config, HostConfig),
    ['restartPolicy', policies[config.restartPolicy ?? 'unlessStopped'], HostConfig.RestartPolicy?.Name],
    ...resourceParts(config, HostConfig),
    ...healthParts(config, info),
  ]
  return parts.flatMap(([what, wanted, found]) =>
    same(wanted, found) ? [] : [`${what}: ${JSON.stringify(wanted)} became ${JSON.stringify(found)}`],
  )
}

const policies = { no: 'no', always: 'always', onFailure: 'on-failure', unlessStopped: 'unless-stopped' } as const

function portsWanted(config: FinalContainerConfig): Record<string, unknown> {
  return Object.fromEntries(
    config.ports.flatMap(({ internal, external, protocol, bindAddress }) =>
      external
        ? [[`${internal}/${protocol ?? 'tcp'}`, [{ HostIp: bindAddress ?? '', HostPort: String(external) }]]]
        : [],
    ),
  )
}

function keysOf(config: FinalContainerConfig, wanted: 'add' | 'drop'): string[] {
  return (config.capabilities ?? [])
    .filter(({ value }) => value === wanted)
    .map(({ key }) => key)
    .sort()
}

function logParts({ logConfig }: FinalContainerConfig, host: Docker.HostConfig): Part[] {
  if (!logConfig || logConfig.driver === 'nodeDefault') return []
  const options = Object.fromEntries((logConfig.options ?? []).map(({ key, value }) => [key, value]))
  return [['logConfig', { Type: logConfig.driver, Config: options }, host.LogConfig]]
}

function resourceParts({ resourceConfig }: FinalContainerConfig, host: Docker.HostConfig): Part[] {
  const { limits, requests } = resourceConfig ?? {}
  const memory = bytes(limits?.memory) ?? 0
  return [
    ['limit of cores', limits?.cpu ? cores(limits.cpu) * 1e9 : 0, host.NanoCpus],
    ['limit of memory', memory, host.Memory],
    ['limit of swap', memory, host.MemorySwap],
    [
      'requested cores',
      requests?.cpu ? Math.max(2, Math.round(Math.ceil(cores(requests.cpu) * 1e3) * 1.024)) : 0,
      host.CpuShares,
    ],
    ['requested memory', bytes(requests?.memory) ?? 0, host.MemoryReservation],
  ]
}

function healthParts(
  { healthCheckConfig: health }: FinalContainerConfig,
  { Config, State }: Docker.ContainerInspectInfo,
): Part[] {
  if (!health?.command) return []
  const wanted = {
    Test: ['CMD-SHELL', health.command],
    Interval: (health.intervalSeconds ?? 0) * 1e9,
    Timeout: (health.timeoutSeconds ?? 0) * 1e9,
    ...(health.startPeriodSeconds ? { StartPeriod: health.startPeriodSeconds * 1e9 } : {}),
    Retries: health.retries ?? 0,
  }
  return [
    ['healthCheckConfig', wanted, Config.Healthcheck],
    ['health', 'healthy', State.Health?.Status],
  ]
}

function bytes(text: string | null | undefined): number | undefined {
  return text ? Number.parseInt(text, 10) * 1_024 ** 2 : undefined
}

function cores(text: string): number {
  return text.endsWith('m') ? Number(text.slice(0, -1)) / 1_000 : Number(text)
}

/** Keys in any order; numbers as close as a product of fractions can be. */
function same(wanted: unknown, found: unknown): boolean {
  if (typeof wanted === 'number' && typeof found === 'number') return Math.abs(wanted - found) < 1
  if (typeof wanted !== 'object' || wanted === null || typeof found !== 'object' || found === null)
    return wanted === found
  const keys = new Set([...Object.keys(wanted), ...Object.keys(found)])
  return [...keys].every((key) =>
    same((wanted as Record<string, unknown>)[key], (found as Record<string, unknown>)[key]),
  )
}

import type { FinalContainerConfig } from '@crux/contract'
import type Docker from 'dockerode'

type Part = [what: string, wanted: unknown, found: unknown]

/**
 * Returns the differences between a container and its configuration. Derives the expected Docker state itself and shares no code with the
 * agent.
 */
export function differences(config: FinalContainerConfig, info: Docker.ContainerInspectInfo): string[] {
  const { Config, HostConfig } = info
  // The types of dockerode leave these out.
  const stop = Config as { StopSignal?: string; StopTimeout?: number }
  const env = new Map((Config.Env ?? []).map((line) => [line.slice(0, line.indexOf('=')), line]))
  const mode = getMode(config)
  const onNetwork = mode === 'network'
  const parts: Part[] = [
    ...stateParts(config, info),
    ...config.secrets.map(
      ({ key, value }): Part => [
        `secret ${key}`,
        value === undefined || config.environment.some((row) => row.key === key) ? env.get(key) : `${key}=${value}`,
        env.get(key),
      ],
    ),
    ['commands', keys(config.commands), Config.Entrypoint ?? []],
    ...(config.args.length > 0 ? [['args', keys(config.args), Config.Cmd ?? []] satisfies Part] : []),
    [
      'networkMode',
      mode,
      onNetwork && info.HostConfig.NetworkMode?.startsWith('crux-') ? mode : HostConfig.NetworkMode,
    ],
    ...routingParts(config, info),
    ['portGate', gateWanted(config), getGate(Config.Labels)],
    ...config.environment.map(({ key, value }): Part => [`environment ${key}`, `${key}=${value}`, env.get(key)]),
    ['user', config.user === undefined || config.user === null ? '' : String(config.user), Config.User],
    ['workingDirectory', config.workingDirectory ?? '', Config.WorkingDir],
    ['tty', config.tty ?? false, Config.Tty],
    ['ports', onNetwork ? portsWanted(config) : {}, HostConfig.PortBindings ?? {}],
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
    ['capabilities added', getKeys(config, 'add'), [...(HostConfig.CapAdd ?? [])].sort()],
    ['capabilities dropped', getKeys(config, 'drop'), [...(HostConfig.CapDrop ?? [])].sort()],
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
      [
        ...(onNetwork ? ['host.docker.internal:host-gateway'] : []),
        ...(config.extraHosts ?? []).map(({ key, value }) => `${key}:${value}`),
      ],
      HostConfig.ExtraHosts ?? [],
    ],
    ...(onNetwork ? config.networks : []).map(({ key }): Part => {
      const joined = Object.keys(info.NetworkSettings.Networks)
      return [`network ${key}`, true, joined.some((name) => new RegExp(`^crux-team-[0-9a-f]{8}-${key}$`).test(name))]
    }),
    ...config.dockerLabels.map(({ key, value }): Part => [`label ${key}`, value, Config.Labels[key]]),
    ...logParts(config, HostConfig),
    [
      'restartPolicy',
      policies[config.restartPolicy ?? (config.expectedState?.state === 'exited' ? 'no' : 'unlessStopped')],
      HostConfig.RestartPolicy?.Name || 'no',
    ],
    ...resourceParts(config, HostConfig),
    ...healthParts(config, info),
  ]
  return parts.flatMap(([what, wanted, found]) =>
    same(wanted, found) ? [] : [`${what}: ${JSON.stringify(wanted)} became ${JSON.stringify(found)}`],
  )
}

const policies = { no: 'no', always: 'always', onFailure: 'on-failure', unlessStopped: 'unless-stopped' } as const

/** The proxy connects to an exposed container over its network, whatever mode it names. */
function getMode({ expose, networkMode }: FinalContainerConfig): string {
  const isExposed = expose != null && expose !== 'none'
  return isExposed || !networkMode || networkMode === 'bridge' ? 'network' : networkMode
}

function stateParts({ expectedState }: FinalContainerConfig, { State }: Docker.ContainerInspectInfo): Part[] {
  if (expectedState?.state !== 'exited') return [['state', 'running', State.Status]]
  return [
    ['state', 'exited', State.Status],
    ['exit code', expectedState.exitCode ?? 0, State.ExitCode],
  ]
}

const keys = (rows: readonly { key: string }[]) => rows.map(({ key }) => key)

/** With a gate the engine publishes no TCP port: the gate holds it. */
function portsWanted(config: FinalContainerConfig): Record<string, unknown> {
  const isGated = config.portGate?.enabled ?? false
  const single = config.ports.flatMap(({ internal, external, protocol = 'tcp', bindAddress }) =>
    external && !(isGated && protocol === 'tcp')
      ? [[`${internal}/${protocol}`, [{ HostIp: bindAddress ?? '', HostPort: String(external) }]] as const]
      : [],
  )
  const ranges = (isGated ? [] : config.portRanges).flatMap(({ internal, external }) =>
    Array.from(
      { length: internal.to - internal.from + 1 },
      (_, index) =>
        [`${internal.from + index}/tcp`, [{ HostIp: '', HostPort: String(external.from + index) }]] as const,
    ),
  )
  return Object.fromEntries([...single, ...ranges])
}

function gateWanted({ portGate, ports }: FinalContainerConfig): unknown {
  if (!portGate?.enabled) return null
  const held = ports.filter(({ external, protocol = 'tcp' }) => external && protocol === 'tcp')
  return {
    drainSeconds: portGate.drainSeconds ?? 30,
    ports: held.map(({ internal, external, bindAddress, proxyProtocol }) => ({
      port: external,
      address: bindAddress ?? '',
      containerPort: internal,
      ...(proxyProtocol ? { proxyProtocol } : {}),
    })),
  }
}

function getGate(labels: Record<string, string>): unknown {
  return JSON.parse(labels['dev.crux.gate'] || 'null')
}

/** The values that Traefik would read; empty where the container is not exposed. */
function routingParts(config: FinalContainerConfig, { Config, Name }: Docker.ContainerInspectInfo): Part[] {
  const name = Name.slice(1)
  const found = (key: string) => Config.Labels[`traefik.${key}`]
  const isExposed = config.expose != null && config.expose !== 'none'
  if (!isExposed) return [['routing', undefined, found('enable')]]
  const { domain, path, port, stripPath, uploadLimit } = config.routing ?? {}
  const hosts = (domain ?? '').split(',').map((host) => `Host(\`${host.trim()}\`)`)
  const anyHost = hosts.length > 1 && path ? `(${hosts.join(' || ')})` : hosts.join(' || ')
  const rule = path ? `${anyHost} && PathPrefix(\`${path}\`)` : anyHost
  const isSecure = config.expose === 'exposeWithTls'
  const bytesMax = uploadLimit === '10mb' ? '10000000' : uploadLimit === '10MiB' ? '10485760' : uploadLimit || undefined
  return [
    ['routing', 'true', found('enable')],
    ['routing rule', rule, found(`http.routers.${name}.rule`)],
    ['routing rule with TLS', isSecure ? rule : undefined, found(`http.routers.${name}-secure.rule`)],
    ['routing TLS', isSecure ? 'true' : undefined, found(`http.routers.${name}-secure.tls`)],
    ['routing port', port ? String(port) : undefined, found(`http.services.${name}.loadbalancer.server.port`)],
    [
      'stripped path',
      stripPath && path ? path : undefined,
      found(`http.middlewares.${name}-stripper.stripprefix.prefixes`),
    ],
    ['upload limit', bytesMax, found(`http.middlewares.${name}-limit.buffering.maxRequestBodyBytes`)],
  ]
}

function getKeys(config: FinalContainerConfig, wanted: 'add' | 'drop'): string[] {
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
  if (health?.test === 'none') return [['healthCheckConfig', ['NONE'], Config.Healthcheck?.Test]]
  if (!health?.command && !health?.arguments) return []
  const test = health.command
    ? ['CMD-SHELL', health.command]
    : ['CMD', ...(health.arguments ?? []).map(({ key }) => key)]
  const wanted = {
    Test: test,
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

/** Compares keys in any order, and numbers with the precision of a product of fractions. */
function same(wanted: unknown, found: unknown): boolean {
  if (typeof wanted === 'number' && typeof found === 'number') return Math.abs(wanted - found) < 1
  if (typeof wanted !== 'object' || wanted === null || typeof found !== 'object' || found === null)
    return wanted === found
  const keys = new Set([...Object.keys(wanted), ...Object.keys(found)])
  return [...keys].every((key) =>
    same((wanted as Record<string, unknown>)[key], (found as Record<string, unknown>)[key]),
  )
}

import type Docker from 'dockerode'
import type { ContainerSpec, HealthCheck, Resources, RestartPolicy } from '../containers/container-engine.ts'

/** Returns the body of Docker's create call. */
export function createOptions(spec: ContainerSpec): Docker.ContainerCreateOptions {
  const ownNetwork = spec.networkMode !== 'host' && spec.networkMode !== 'none'
  return {
    name: spec.name,
    Image: spec.image.id ?? `${spec.image.name}:${spec.image.tag}`,
    Env: Object.entries(spec.environment).map(([key, value]) => `${key}=${value}`),
    Labels: spec.labels,
    Tty: spec.tty,
    ...(spec.hostname && spec.networkMode !== 'host' ? { Hostname: spec.hostname } : {}),
    ...(spec.entrypoint.length > 0 ? { Entrypoint: [...spec.entrypoint] } : {}),
    ...(spec.command.length > 0 ? { Cmd: [...spec.command] } : {}),
    ...(spec.workingDirectory ? { WorkingDir: spec.workingDirectory } : {}),
    ...(spec.user === undefined ? {} : { User: spec.user }),
    ...(spec.stopSignal ? { StopSignal: spec.stopSignal } : {}),
    ...(spec.stopGracePeriodSeconds === undefined ? {} : { StopTimeout: spec.stopGracePeriodSeconds }),
    ExposedPorts: Object.fromEntries(spec.exposed.map(({ port, protocol }) => [`${port}/${protocol}`, {}])),
    HostConfig: {
      NetworkMode: spec.networkMode,
      RestartPolicy: rawPolicy(spec.restartPolicy),
      PortBindings: bindings(spec),
      Mounts: mounts(spec),
      ExtraHosts: extraHosts(spec, ownNetwork),
      ...(spec.log ? { LogConfig: { Type: spec.log.driver, Config: spec.log.options } } : {}),
      CapAdd: [...spec.capabilities.add],
      CapDrop: [...spec.capabilities.drop],
      ...(spec.shmSizeBytes ? { ShmSize: spec.shmSizeBytes } : {}),
      Ulimits: spec.ulimits.map(({ name, soft, hard }) => ({ Name: name, Soft: soft, Hard: hard })),
      ...resources(spec.resources),
    },
    ...(spec.healthCheck ? { Healthcheck: healthCheck(spec.healthCheck) } : {}),
    // The engine's default bridge supports neither aliases nor links.
    ...(ownNetwork && spec.networkMode !== 'bridge'
      ? {
          NetworkingConfig: {
            EndpointsConfig: { [spec.networkMode]: { Aliases: [...spec.aliases], Links: [...spec.links] } },
          },
        }
      : {}),
  }
}

/** The node has a name in every container that has a network of its own; a configured line of that name takes precedence. */
function extraHosts({ extraHosts: given }: ContainerSpec, ownNetwork: boolean): string[] {
  const gateway = 'host.docker.internal'
  return [
    ...(ownNetwork && !given.some(({ name }) => name === gateway) ? [`${gateway}:host-gateway`] : []),
    ...given.map(({ name, address }) => `${name}:${address}`),
  ]
}

const sharesPerCore = 1_024
const sharesMin = 2

/** The memory limit also limits memory and swap together: a container above it is killed, so that it does not make the node swap. */
function resources(given: Resources): Docker.HostConfig {
  const { cpuLimitMillis, memoryLimitBytes, cpuRequestMillis, memoryRequestBytes } = given
  return {
    ...(cpuLimitMillis ? { NanoCpus: cpuLimitMillis * 1_000_000 } : {}),
    ...(memoryLimitBytes ? { Memory: memoryLimitBytes, MemorySwap: memoryLimitBytes } : {}),
    ...(cpuRequestMillis
      ? { CpuShares: Math.max(sharesMin, Math.round((cpuRequestMillis * sharesPerCore) / 1_000)) }
      : {}),
    ...(memoryRequestBytes ? { MemoryReservation: memoryRequestBytes } : {}),
  }
}

const nanosPerMs = 1_000_000

/** To the engine, zero and an empty test mean that the image's value applies. */
function healthCheck({ test, intervalMs, timeoutMs, startPeriodMs, retries }: HealthCheck): Docker.HealthConfig {
  return {
    Test: [...(test ?? [])],
    Interval: (intervalMs ?? 0) * nanosPerMs,
    Timeout: (timeoutMs ?? 0) * nanosPerMs,
    StartPeriod: (startPeriodMs ?? 0) * nanosPerMs,
    Retries: retries ?? 0,
  }
}

function bindings(spec: ContainerSpec): Record<string, { HostIp: string; HostPort: string }[]> {
  const table: Record<string, { HostIp: string; HostPort: string }[]> = {}
  for (const port of spec.published) {
    const key = `${port.containerPort}/${port.protocol}`
    table[key] = [
      ...(table[key] ?? []),
      { HostIp: port.address, HostPort: port.hostPort === 0 ? '' : String(port.hostPort) },
    ]
  }
  return table
}

function mounts(spec: ContainerSpec): Docker.MountConfig {
  return spec.mounts.map((mount) =>
    mount.kind === 'memory'
      ? {
          Type: 'tmpfs' as const,
          Target: mount.target,
          Source: '',
          TmpfsOptions: { SizeBytes: mount.sizeBytes, Mode: 0o1777 },
        }
      : {
          Type: 'bind' as const,
          Target: mount.target,
          Source: mount.source,
          ReadOnly: !mount.writable,
        },
  )
}

export function rawPolicy(policy: RestartPolicy) {
  return { Name: policy.name, MaximumRetryCount: policy.maximumRetries ?? 0 }
}

import type Docker from 'dockerode'
import type { ContainerSpec } from '../container-engine.ts'
import { rawPolicy } from './container-engine.ts'

/** The body of Docker's create call. */
export function createOptions(spec: ContainerSpec): Docker.ContainerCreateOptions {
  const ownNetwork = spec.networkMode !== 'host' && spec.networkMode !== 'none'
  return {
    name: spec.name,
    Image: `${spec.image.name}:${spec.image.tag}`,
    Env: Object.entries(spec.environment).map(([key, value]) => `${key}=${value}`),
    Labels: spec.labels,
    Tty: spec.tty,
    ...(spec.hostname && spec.networkMode !== 'host' ? { Hostname: spec.hostname } : {}),
    ...(spec.entrypoint.length > 0 ? { Entrypoint: [...spec.entrypoint] } : {}),
    ...(spec.command.length > 0 ? { Cmd: [...spec.command] } : {}),
    ...(spec.workingDirectory ? { WorkingDir: spec.workingDirectory } : {}),
    ...(spec.user === undefined ? {} : { User: spec.user }),
    ExposedPorts: Object.fromEntries(spec.exposed.map(({ port, protocol }) => [`${port}/${protocol}`, {}])),
    HostConfig: {
      NetworkMode: spec.networkMode,
      RestartPolicy: rawPolicy(spec.restartPolicy),
      PortBindings: bindings(spec),
      Mounts: mounts(spec),
      ...(ownNetwork ? { ExtraHosts: ['host.docker.internal:host-gateway'] } : {}),
      ...(spec.log ? { LogConfig: { Type: spec.log.driver, Config: spec.log.options } } : {}),
      CapAdd: [...spec.capabilities.add],
      CapDrop: [...spec.capabilities.drop],
    },
    ...(ownNetwork
      ? {
          NetworkingConfig: {
            EndpointsConfig: { [spec.networkMode]: { Aliases: [...spec.aliases], Links: [...spec.links] } },
          },
        }
      : {}),
  }
}

function bindings(spec: ContainerSpec): Record<string, { HostIp: string; HostPort: string }[]> {
  const table: Record<string, { HostIp: string; HostPort: string }[]> = {}
  for (const port of spec.published) {
    const key = `${port.containerPort}/${port.protocol}`
    table[key] = [...(table[key] ?? []), { HostIp: port.address, HostPort: String(port.hostPort) }]
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
          TmpfsOptions: { SizeBytes: mount.sizeBytes ?? 0, Mode: 0o1777 },
        }
      : {
          Type: 'bind' as const,
          Target: mount.target,
          Source: mount.source,
          ReadOnly: !mount.writable,
        },
  )
}

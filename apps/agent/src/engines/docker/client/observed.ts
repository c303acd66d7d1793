import type Docker from 'dockerode'
import type {
  ContainerSummary,
  ObservedContainer,
  PublishedPort,
  RestartPolicy,
} from '../containers/container-engine.ts'
import { getGatedPorts } from '../containers/gated-ports.ts'

export function toSummary(listed: Docker.ContainerInfo): ContainerSummary {
  return {
    id: listed.Id,
    name: (listed.Names[0] ?? '').replace(/^\//, ''),
    labels: listed.Labels,
    imageId: listed.ImageID,
    running: listed.State === 'running' || listed.State === 'restarting' || listed.State === 'paused',
    published: listed.Ports.filter((port) => port.PublicPort).map((port) => ({
      hostPort: port.PublicPort,
      protocol: toProtocol(port.Type),
      address: port.IP === '0.0.0.0' || port.IP === '::' ? '' : (port.IP ?? ''),
    })),
    gated: getGatedPorts(listed.Labels),
    hostNetwork: listed.HostConfig.NetworkMode === 'host',
  }
}

export function toObserved(info: Docker.ContainerInspectInfo): ObservedContainer {
  return {
    id: info.Id,
    name: info.Name.replace(/^\//, ''),
    labels: info.Config.Labels ?? {},
    imageId: info.Image,
    state: getState(info.State.Status),
    exitCode: info.State.ExitCode,
    outOfMemory: info.State.OOMKilled,
    restartCount: info.RestartCount,
    health: toHealth(info.State.Health?.Status),
    healthOutput: (info.State.Health?.Log?.at(-1)?.Output ?? '').trim().slice(0, 500),
    restartPolicy: toPolicy(info.HostConfig.RestartPolicy),
    published: toBindings(info.HostConfig.PortBindings),
    gated: getGatedPorts(info.Config.Labels ?? {}),
    hostNetwork: info.HostConfig.NetworkMode === 'host',
    mounts: info.Mounts.map((mount) => ({
      source: mount.Type === 'volume' ? `volume:${mount.Name ?? mount.Source}` : mount.Source,
      target: mount.Destination,
      writable: mount.RW,
    })),
    networks: Object.entries(info.NetworkSettings.Networks ?? {}).map(([name, network]) => ({
      name,
      address: network.IPAddress,
      aliases: network.Aliases ?? [],
    })),
  }
}

type Bindings = Record<string, { HostIp?: string; HostPort?: string }[] | null>

function toBindings(bindings: Bindings | null | undefined): PublishedPort[] {
  return Object.entries(bindings ?? {}).flatMap(([key, hosts]) =>
    (hosts ?? [])
      .filter((host) => Number(host.HostPort) > 0)
      .map((host) => ({
        hostPort: Number(host.HostPort),
        protocol: toProtocol(key.split('/')[1]),
        address: host.HostIp ?? '',
      })),
  )
}

function toProtocol(text: string | undefined): 'tcp' | 'udp' {
  return text === 'udp' ? 'udp' : 'tcp'
}

const states = ['created', 'running', 'paused', 'restarting', 'removing', 'exited', 'dead'] as const
function getState(status: string): ObservedContainer['state'] {
  return states.find((state) => state === status) ?? 'dead'
}

function toHealth(status: string | undefined): ObservedContainer['health'] {
  return status === 'starting' || status === 'healthy' || status === 'unhealthy' ? status : 'none'
}

const policies = ['no', 'always', 'on-failure', 'unless-stopped'] as const
function toPolicy(policy: { Name?: string; MaximumRetryCount?: number } | undefined): RestartPolicy {
  const name = policies.find((known) => known === policy?.Name) ?? 'no'
  return name === 'on-failure' && policy?.MaximumRetryCount
    ? { name, maximumRetries: policy.MaximumRetryCount }
    : { name }
}

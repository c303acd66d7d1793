import type Docker from 'dockerode'
import type {
  ContainerSummary,
  ObservedContainer,
  PublishedPort,
  RestartPolicy,
} from '../containers/container-engine.ts'
import { gatedPortsOf } from '../containers/gated-ports.ts'

export function summaryOf(listed: Docker.ContainerInfo): ContainerSummary {
  return {
    id: listed.Id,
    name: (listed.Names[0] ?? '').replace(/^\//, ''),
    labels: listed.Labels,
    imageId: listed.ImageID,
    running: listed.State === 'running' || listed.State === 'restarting' || listed.State === 'paused',
    published: listed.Ports.filter((port) => port.PublicPort).map((port) => ({
      hostPort: port.PublicPort,
      protocol: protocolOf(port.Type),
      address: port.IP === '0.0.0.0' || port.IP === '::' ? '' : (port.IP ?? ''),
    })),
    gated: gatedPortsOf(listed.Labels),
    hostNetwork: listed.HostConfig.NetworkMode === 'host',
  }
}

export function observedOf(info: Docker.ContainerInspectInfo): ObservedContainer {
  return {
    id: info.Id,
    name: info.Name.replace(/^\//, ''),
    labels: info.Config.Labels ?? {},
    imageId: info.Image,
    state: stateOf(info.State.Status),
    exitCode: info.State.ExitCode,
    outOfMemory: info.State.OOMKilled,
    restartCount: info.RestartCount,
    health: healthOf(info.State.Health?.Status),
    healthOutput: (info.State.Health?.Log?.at(-1)?.Output ?? '').trim().slice(0, 500),
    restartPolicy: policyOf(info.HostConfig.RestartPolicy),
    published: bindingsOf(info.HostConfig.PortBindings),
    gated: gatedPortsOf(info.Config.Labels ?? {}),
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

function bindingsOf(bindings: Bindings | null | undefined): PublishedPort[] {
  return Object.entries(bindings ?? {}).flatMap(([key, hosts]) =>
    (hosts ?? [])
      .filter((host) => Number(host.HostPort) > 0)
      .map((host) => ({
        hostPort: Number(host.HostPort),
        protocol: protocolOf(key.split('/')[1]),
        address: host.HostIp ?? '',
      })),
  )
}

function protocolOf(text: string | undefined): 'tcp' | 'udp' {
  return text === 'udp' ? 'udp' : 'tcp'
}

const states = ['created', 'running', 'paused', 'restarting', 'removing', 'exited', 'dead'] as const
function stateOf(status: string): ObservedContainer['state'] {
  return states.find((state) => state === status) ?? 'dead'
}

function healthOf(status: string | undefined): ObservedContainer['health'] {
  return status === 'starting' || status === 'healthy' || status === 'unhealthy' ? status : 'none'
}

const policies = ['no', 'always', 'on-failure', 'unless-stopped'] as const
function policyOf(policy: { Name?: string; MaximumRetryCount?: number } | undefined): RestartPolicy {
  const name = policies.find((known) => known === policy?.Name) ?? 'no'
  return name === 'on-failure' && policy?.MaximumRetryCount
    ? { name, maximumRetries: policy.MaximumRetryCount }
    : { name }
}

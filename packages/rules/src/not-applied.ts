import {
  type ContainerConfigField,
  type ContainerConfigFields,
  containerConfigGroups,
  type NodeType,
} from '@crux/contract'
import { isUnset } from './config-parts.ts'

/** `partly`: the setting has an effect here, but not all that its name promises. */
export type NotApplied = { property: string; description: string; partly?: true }

/**
 * Settings that have no effect on this type of node. The page shows them and the agent logs them, so that no setting is ignored silently. Settings
 * that would change nothing anyway (`proxyHeaders: false`) are omitted.
 */
export function notApplied(config: ContainerConfigFields, nodeType: NodeType): NotApplied[] {
  const foreign: readonly ContainerConfigField[] =
    nodeType === 'docker' ? containerConfigGroups.kubernetes : containerConfigGroups.docker
  const whole = foreign.flatMap((field) =>
    saysSomething(field, config[field])
      ? [{ property: field, description: `${field} is for ${otherKind[nodeType]} nodes and does nothing here` }]
      : [],
  )
  return [...whole, ...(nodeType === 'docker' ? onDocker(config) : onKubernetes(config))]
}

const otherKind = { docker: 'Kubernetes', k8s: 'Docker' } as const satisfies Record<NodeType, string>

function onDocker(config: ContainerConfigFields): NotApplied[] {
  const found: NotApplied[] = []
  if (config.healthCheckConfig?.livenessProbe)
    found.push({
      property: 'healthCheckConfig.livenessProbe',
      ...(hasOtherProbe(config)
        ? {
            description:
              'Docker restarts no container for its health: the liveness probe is never asked, the other one decides whether the start succeeds',
          }
        : {
            description:
              'Docker restarts no container for its health: the liveness probe decides whether the start succeeds, and is never asked again',
            partly: true,
          }),
    })
  config.volumes?.forEach((volume, index) => {
    if (volume.class)
      found.push({
        property: `volumes[${index}].class`,
        description: 'Storage classes are for Kubernetes nodes: on Docker the volume is a folder of the node',
      })
    if (volume.size && volume.type !== 'mem' && volume.type !== 'tmp')
      found.push({
        property: `volumes[${index}].size`,
        description: 'On Docker the volume is a folder of the node, as large as its disk; only mem and tmp have a size',
      })
  })
  if ((config.logConfig?.driver ?? 'nodeDefault') === 'nodeDefault' && config.logConfig?.options?.length)
    found.push({
      property: 'logConfig.options',
      description: 'Log options need a log driver: choose one, or the node uses its own',
    })
  return [...found, ...besideNetworkMode(config)]
}

/** With host and none, the container has no network of its own to publish from or to join; exposing a port overrides both. */
function besideNetworkMode({ networkMode, expose, ports, portRanges, networks }: ContainerConfigFields): NotApplied[] {
  if (networkMode !== 'host' && networkMode !== 'none') return []
  if ((expose ?? 'none') !== 'none')
    return [
      {
        property: 'networkMode',
        description: 'An exposed container is on the network of its prefix, where the proxy finds it',
      },
    ]
  const unpublished =
    networkMode === 'host'
      ? "With the host's network nothing is published: the container has the ports of the node itself"
      : 'Without a network nothing is published'
  const found = (ports ?? []).flatMap(({ external }, index) =>
    external ? [{ property: `ports[${index}].external`, description: unpublished }] : [],
  )
  portRanges?.forEach((_, index) => {
    found.push({ property: `portRanges[${index}]`, description: unpublished })
  })
  if (networks?.length)
    found.push({
      property: 'networks',
      description: `With the network mode ${networkMode} a container joins no other network`,
    })
  return found
}

function onKubernetes(config: ContainerConfigFields): NotApplied[] {
  return (config.ports ?? []).flatMap((port, index) => {
    const found: NotApplied[] = []
    const say = (name: string, description: string) => found.push({ property: `ports[${index}].${name}`, description })
    if (port.external)
      say('external', 'On Kubernetes a port is reached through its service: the node publishes nothing')
    if (port.bindAddress) say('bindAddress', 'On Kubernetes a port is reached through its service, on every node')
    if (port.proxyProtocol) say('proxyProtocol', 'Only the port gate of a Docker node writes the PROXY protocol')
    return found
  })
}

const hasOtherProbe = ({ healthCheckConfig }: ContainerConfigFields) =>
  Boolean(healthCheckConfig?.readinessProbe || healthCheckConfig?.startupProbe)

function saysSomething(field: ContainerConfigField, value: unknown): boolean {
  if (isUnset(field, value) || value === false) return false
  if (Array.isArray(value)) return value.length > 0
  if (typeof value !== 'object' || value === null) return true
  if ('enabled' in value) return value.enabled === true
  return Object.values(value).some((inner) =>
    Array.isArray(inner) ? inner.length > 0 : inner !== null && inner !== undefined && inner !== '',
  )
}

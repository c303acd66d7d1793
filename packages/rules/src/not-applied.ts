import {
  type ContainerConfigField,
  type ContainerConfigFields,
  containerConfigFieldNames,
  type NodeType,
} from '@crux/contract'
import { isUnset } from './config-parts.ts'
import { engineEffects } from './engine-effects.ts'
import { healthCheckTest } from './health-check.ts'

/** `partly`: the setting has an effect here, but not all that its name promises. */
export type NotApplied = { property: string; description: string; partly?: true }

/**
 * Settings that have no effect on this type of node. The page shows them and the agent logs them, so that no setting is ignored silently. Settings
 * that would change nothing anyway (`proxyHeaders: false`) are omitted.
 */
export function notApplied(config: ContainerConfigFields, nodeType: NodeType): NotApplied[] {
  const foreign = containerConfigFieldNames.filter((field) => engineEffects[field][nodeType] === null)
  const whole = foreign.flatMap((field) =>
    hasEffect(field, config[field])
      ? [{ property: field, description: `${field} is for ${otherKind[nodeType]} nodes and does nothing here` }]
      : [],
  )
  return [...whole, ...(nodeType === 'docker' ? onDocker(config) : onKubernetes(config))]
}

const otherKind = { docker: 'Kubernetes', k8s: 'Docker' } as const satisfies Record<NodeType, string>

function onDocker(config: ContainerConfigFields): NotApplied[] {
  const { found, add } = createList()
  const noRestarts = 'Docker restarts no container for its health: the liveness probe'
  if (config.healthCheckConfig?.livenessProbe) {
    const property = 'healthCheckConfig.livenessProbe'
    if (hasOtherProbe(config))
      add(property, `${noRestarts} is never asked, the other one decides whether the start succeeds`)
    else add(property, `${noRestarts} decides whether the start succeeds, and is never asked again`, true)
  }
  if (config.healthCheckConfig?.test === 'none')
    for (const time of ['intervalSeconds', 'timeoutSeconds', 'startPeriodSeconds', 'retries'] as const)
      if (config.healthCheckConfig[time] != null)
        add(`healthCheckConfig.${time}`, "The image's health check is switched off: nothing is checked at these times")
  config.volumes?.forEach((volume, index) => {
    const directory = 'on Docker the volume is a folder of the node'
    if (volume.class) add(`volumes[${index}].class`, `Storage classes are for Kubernetes nodes: ${directory}`)
    if (volume.size && volume.type !== 'mem' && volume.type !== 'tmp')
      add(
        `volumes[${index}].size`,
        'On Docker the volume is a folder of the node, as large as its disk; only mem and tmp have a size',
      )
  })
  if ((config.logConfig?.driver ?? 'nodeDefault') === 'nodeDefault' && config.logConfig?.options?.length)
    add('logConfig.options', 'Log options need a log driver: choose one, or the node uses its own')
  return [...found, ...networkModeNotApplied(config)]
}

function createList() {
  const found: NotApplied[] = []
  const add = (property: string, description: string, partly?: true) =>
    void found.push({ property, description, ...(partly && { partly }) })
  return { found, add }
}

/** With host and none, the container has no network of its own to publish from or to join; exposing a port overrides both. */
function networkModeNotApplied({
  networkMode,
  expose,
  ports,
  portRanges,
  networks,
}: ContainerConfigFields): NotApplied[] {
  if (networkMode !== 'host' && networkMode !== 'none') return []
  const { found, add } = createList()
  if ((expose ?? 'none') !== 'none') {
    add('networkMode', 'An exposed container is on the network of its prefix, where the proxy finds it')
    return found
  }
  const unpublished =
    networkMode === 'host'
      ? "With the host's network nothing is published: the container has the ports of the node itself"
      : 'Without a network nothing is published'
  ports?.forEach(({ external }, index) => {
    if (external) add(`ports[${index}].external`, unpublished)
  })
  for (const index of portRanges?.keys() ?? []) add(`portRanges[${index}]`, unpublished)
  if (networks?.length) add('networks', `With the network mode ${networkMode} a container joins no other network`)
  return found
}

function onKubernetes(config: ContainerConfigFields): NotApplied[] {
  const { found, add } = createList()
  config.ports?.forEach(({ external, bindAddress, proxyProtocol }, index) => {
    const at = `ports[${index}]`
    if (external)
      add(
        `${at}.external`,
        'On Kubernetes this is the port of the service within the cluster: its machines publish nothing',
        true,
      )
    if (bindAddress) add(`${at}.bindAddress`, 'On Kubernetes a port is reached through its service, at its own address')
    if (proxyProtocol) add(`${at}.proxyProtocol`, 'Only the port gate of a Docker node writes the PROXY protocol')
  })
  config.portRanges?.forEach(({ external }, index) => {
    if (external)
      add(
        `portRanges[${index}].external`,
        'On Kubernetes these are ports of the service within the cluster: its machines publish nothing',
        true,
      )
  })
  found.push(...healthNotApplied(config.healthCheckConfig))
  const { annotations, customHeaders, expose, extraLBAnnotations, labels, proxyHeaders, useLoadBalancer } = config
  if (extraLBAnnotations?.length && !useLoadBalancer)
    add('extraLBAnnotations', 'These annotations need a load balancer: without one, nothing has them')
  if ((expose ?? 'none') !== 'none') return found
  const notExposed = 'This is for the ingress of an exposed container: without one, nothing has it'
  if (customHeaders?.length) add('customHeaders', notExposed)
  if (proxyHeaders) add('proxyHeaders', notExposed)
  if (annotations?.ingress?.length) add('annotations.ingress', notExposed)
  if (labels?.ingress?.length) add('labels.ingress', notExposed)
  return found
}

/** A cluster asks one question about readiness, and knows nothing of the health check of an image. */
function healthNotApplied(health: ContainerConfigFields['healthCheckConfig']): NotApplied[] {
  const { found, add } = createList()
  const test = healthCheckTest(health)
  const isTested = test !== undefined && test[0] !== 'NONE'
  if (isTested && health?.readinessProbe)
    add(
      `healthCheckConfig.${health.test === 'exec' ? 'arguments' : 'command'}`,
      'The readiness probe decides on Kubernetes: the command is never run beside it',
    )
  if (isTested || health?.readinessProbe || health?.livenessProbe) return found
  for (const time of ['intervalSeconds', 'timeoutSeconds', 'startPeriodSeconds', 'retries'] as const)
    if (health?.[time] != null)
      add(
        `healthCheckConfig.${time}`,
        "Kubernetes does not run the image's health check: set a command or a probe that is asked at these times",
      )
  return found
}

const hasOtherProbe = ({ healthCheckConfig }: ContainerConfigFields) =>
  Boolean(healthCheckConfig?.readinessProbe || healthCheckConfig?.startupProbe)

function hasEffect(field: ContainerConfigField, value: unknown): boolean {
  if (isUnset(field, value) || value === false) return false
  // Every node runs one container.
  if (field === 'replicas') return value !== 1
  if (Array.isArray(value)) return value.length > 0
  if (typeof value !== 'object' || value === null) return true
  if ('enabled' in value) return value.enabled === true
  return Object.values(value).some((inner) =>
    Array.isArray(inner) ? inner.length > 0 : inner !== null && inner !== undefined && inner !== '',
  )
}

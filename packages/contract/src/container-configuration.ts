import { z } from 'zod'
import * as field from './container-configuration-fields.ts'
import { deploymentStrategies, exposeStrategies, networkModes, restartPolicies } from './enums.ts'
import { limits, patterns } from './limits.ts'

/** One layer of a container configuration. Absent and null settings are not set in this layer. */
export const ContainerConfigFields = z.object({
  name: z
    .string()
    .trim()
    .max(limits.containerName.max)
    .regex(patterns.containerName, 'Use letters, digits, dots, dashes and underscores')
    .nullish(),
  environment: field.KeyNullableValues.nullish(),
  secrets: field.Secrets.nullish(),
  routing: field.Routing.nullish(),
  expose: z.enum(exposeStrategies).nullish(),
  /** Numeric user id; -1 and null mean the user of the image. */
  user: field.User.nullish(),
  workingDirectory: z.string().max(4_096).regex(/^\S*$/, 'A directory here has no white space').nullish(),
  tty: z.boolean().nullish(),
  stopSignal: field.StopSignal.nullish(),
  /** How long a container may take to stop after its stop signal before it is killed; 10 when absent. */
  stopGracePeriodSeconds: z.int().min(0).max(limits.stopGracePeriodSeconds).nullish(),
  configContainer: field.ConfigContainer.nullish(),
  ports: field.Ports.nullish(),
  portRanges: field.PortRanges.nullish(),
  volumes: field.Volumes.nullish(),
  commands: field.Arguments.nullish(),
  args: field.Arguments.nullish(),
  initContainers: z.array(field.InitContainer).max(50).nullish(),
  capabilities: field.Capabilities.nullish(),
  ulimits: field.Ulimits.nullish(),
  shmSize: z.string().regex(patterns.quantity, 'Use a quantity such as 256Mi').or(z.literal('')).nullish(),
  extraHosts: field.ExtraHosts.nullish(),
  portGate: field.PortGate.nullish(),
  storage: field.StorageUse.nullish(),
  expectedState: field.ExpectedState.nullish(),
  logConfig: field.LogConfig.nullish(),
  restartPolicy: z.enum(restartPolicies).nullish(),
  networkMode: z.enum(networkModes).nullish(),
  networks: field.UniqueKeys.nullish(),
  dockerLabels: field.KeyNullableValues.nullish(),
  deploymentStrategy: z.enum(deploymentStrategies).nullish(),
  /** The number of equal containers; 1 when absent. */
  replicas: z.int().min(limits.replicas.min).max(limits.replicas.max).nullish(),
  customHeaders: field.UniqueKeys.nullish(),
  proxyHeaders: z.boolean().nullish(),
  useLoadBalancer: z.boolean().nullish(),
  extraLBAnnotations: field.KeyNullableValues.nullish(),
  healthCheckConfig: field.HealthCheckConfig.nullish(),
  resourceConfig: field.ResourceConfig.nullish(),
  annotations: field.Marker.nullish(),
  labels: field.Marker.nullish(),
  metrics: field.Metrics.nullish(),
})
export type ContainerConfigFields = z.output<typeof ContainerConfigFields>
export type ContainerConfigField = keyof ContainerConfigFields

/**
 * Settings in the groups of the page, and the single definition of which type of node applies what: `common` means both. A field of another type of
 * node is marked as such, but never dropped.
 */
export const containerConfigGroups = {
  common: [
    'name',
    'expose',
    'user',
    'workingDirectory',
    'tty',
    'configContainer',
    'routing',
    'environment',
    'secrets',
    'initContainers',
    'ports',
    'portRanges',
    'storage',
    'volumes',
    'commands',
    'args',
    'healthCheckConfig',
    'resourceConfig',
    'stopGracePeriodSeconds',
    'expectedState',
    'capabilities',
  ],
  docker: [
    'logConfig',
    'restartPolicy',
    'stopSignal',
    'networkMode',
    'networks',
    'dockerLabels',
    'portGate',
    'ulimits',
    'shmSize',
    'extraHosts',
  ],
  kubernetes: [
    'deploymentStrategy',
    'replicas',
    'customHeaders',
    'proxyHeaders',
    'useLoadBalancer',
    'extraLBAnnotations',
    'labels',
    'annotations',
    'metrics',
  ],
} as const satisfies Record<string, readonly ContainerConfigField[]>

export const containerConfigFieldNames = ContainerConfigFields.keyof().options

export const isContainerConfigField = (name: string): name is ContainerConfigField =>
  Object.hasOwn(ContainerConfigFields.shape, name)

/**
 * The configuration of one container after all layers are merged, in the form that a release stores and the agent receives. Lists are never null
 * here, and `environment` has no removed keys left.
 */
export const FinalContainerConfig = ContainerConfigFields.extend({
  /** The short name; the full name of the container is `{prefix}-{name}`. */
  name: z.string().min(1).max(limits.containerName.max).regex(patterns.dnsLabel),
  environment: field.KeyValues,
  ports: field.Ports,
  portRanges: field.PortRanges,
  volumes: field.Volumes,
  commands: field.Arguments,
  args: field.Arguments,
  networks: field.UniqueKeys,
  dockerLabels: field.KeyValues,
  secrets: field.Secrets,
})
export type FinalContainerConfig = z.output<typeof FinalContainerConfig>

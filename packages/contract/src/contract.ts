import type { z } from 'zod'
import { auditLogEndpoints } from './audit-log.ts'
import { authEndpoints } from './auth.ts'
import { configBundleEndpoints } from './config-bundles.ts'
import { containerConfigurationEndpoints } from './container-configurations.ts'
import { dashboardEndpoints } from './dashboard.ts'
import { deploymentConfigurationEndpoints } from './deployment-configurations.ts'
import { deploymentDriftEndpoints } from './deployment-drift.ts'
import { deploymentEndpoints } from './deployments.ts'
import type { EndpointSpec } from './endpoint.ts'
import type { liveChannels } from './live-channels.ts'
import { nodeImageEndpoints } from './node-images.ts'
import { nodeMachineEndpoints } from './node-machines.ts'
import { nodeEndpoints } from './nodes.ts'
import { notificationEndpoints } from './notifications.ts'
import { packageEndpoints } from './packages.ts'
import { pipelineEndpoints } from './pipelines.ts'
import { prefixDataEndpoints } from './prefix-data.ts'
import { projectEndpoints } from './projects.ts'
import { registryEndpoints } from './registries.ts'
import { registryHookEndpoints } from './registry-hooks.ts'
import { runImageEndpoints } from './run-image.ts'
import { storageEndpoints } from './storages.ts'
import { systemEndpoints } from './system.ts'
import { teamEndpoints } from './teams.ts'
import { templateEndpoints } from './templates.ts'
import { tokenEndpoints } from './tokens.ts'

/** Every endpoint of the product API, by operation. */
export const contract = {
  ...systemEndpoints,
  ...dashboardEndpoints,
  ...authEndpoints,
  ...teamEndpoints,
  ...tokenEndpoints,
  ...auditLogEndpoints,
  ...registryEndpoints,
  ...registryHookEndpoints,
  ...projectEndpoints,
  ...nodeEndpoints,
  ...nodeImageEndpoints,
  ...nodeMachineEndpoints,
  ...prefixDataEndpoints,
  ...containerConfigurationEndpoints,
  ...configBundleEndpoints,
  ...storageEndpoints,
  ...deploymentEndpoints,
  ...deploymentConfigurationEndpoints,
  ...deploymentDriftEndpoints,
  ...templateEndpoints,
  ...runImageEndpoints,
  ...packageEndpoints,
  ...pipelineEndpoints,
  ...notificationEndpoints,
}
export type Contract = typeof contract
export type Operation = keyof Contract

type Part<E, P extends keyof EndpointSpec> = E extends Record<P, infer S extends z.ZodType> ? z.output<S> : undefined
type PartIn<E, P extends keyof EndpointSpec> = E extends Record<P, infer S extends z.ZodType> ? z.input<S> : undefined
/** The parameters that a handler receives: parsed, with defaults. */
export type Params<O extends Operation> = Part<Contract[O], 'params'>
export type Query<O extends Operation> = Part<Contract[O], 'query'>
export type Body<O extends Operation> = Part<Contract[O], 'body'>
/** The parameters that a caller sends. */
export type ParamsInput<O extends Operation> = PartIn<Contract[O], 'params'>
export type QueryInput<O extends Operation> = PartIn<Contract[O], 'query'>
export type BodyInput<O extends Operation> = PartIn<Contract[O], 'body'>
/** The response that a handler returns (before serialization) and that a caller receives. */
export type ResponseInput<O extends Operation> = Contract[O] extends { response: infer S extends z.ZodType }
  ? z.input<S>
  : Contract[O] extends { contentType: string }
    ? string | Uint8Array | AsyncIterable<Uint8Array>
    : undefined
export type ResponseOf<O extends Operation> = Contract[O] extends { response: infer S extends z.ZodType }
  ? z.output<S>
  : undefined

export type Channels = typeof liveChannels
export type ChannelName = keyof Channels
export type ClientMessage<C extends ChannelName> = keyof Channels[C]['client'] & string
export type ServerMessage<C extends ChannelName> = keyof Channels[C]['server'] & string
export type ClientData<C extends ChannelName, M extends ClientMessage<C>> = Channels[C]['client'][M] extends {
  data: infer S extends z.ZodType
}
  ? z.output<S>
  : never
export type ServerData<C extends ChannelName, M extends ServerMessage<C>> = Channels[C]['server'][M] extends {
  data: infer S extends z.ZodType
}
  ? z.input<S>
  : never

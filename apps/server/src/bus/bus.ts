import type { DeploymentStatus, NodeStatus } from '@crux/contract'

/**
 * An event, with ids only: subscribers read the rest from the database. It is sent after the commit of its transaction
 * and received by every server process, the sender included. Events may be missed: read again after `reconnected`. The
 * sender receives those of `rightsEvents` twice, the first time before `publish` returns.
 */
export type BusEvent =
  | { type: 'session.ended'; sessionId: string }
  /** The account was changed through the admin API: disabled, enabled, renamed, deleted. */
  | { type: 'identity.changed'; userId: string }
  /** The name, the address, or what the session may do has changed. */
  | { type: 'user.changed'; userId: string; sessionId: string }
  /** `userId` is the id of a user or a service account. */
  | { type: 'member.changed'; teamId: string; userId: string }
  | { type: 'tokens.revoked'; tokenIds: string[] }
  | { type: 'team.changed'; teamId: string }
  | { type: 'node.changed'; teamId: string; nodeId: string; status?: NodeStatus; error?: string }
  | { type: 'node.work'; nodeId: string }
  | { type: 'node.close'; nodeId: string; reason: 'shutdown' | 'token-revoked' }
  /** These tags, or any tags of these repositories, were pushed or deleted. Repositories are named as in the registry. */
  | { type: 'registry.pushed'; registryId: string; pushes: { repository: string; tag?: string; deliveryId?: string }[] }
  | { type: 'images.added'; versionId: string; imageIds: string[] }
  | {
      type: 'image.deleted'
      versionId: string
      imageId: string
      instances: { deploymentId: string; instanceId: string; configId: string }[]
    }
  | { type: 'image.tagged'; versionId: string; imageId: string; tag: string; origin?: string }
  | { type: 'images.ordered'; versionId: string; imageIds: string[]; origin?: string }
  | { type: 'config.changed'; configId: string; revision: number; origin?: string }
  /** The name or the configuration has changed, which deployments with this bundle show. */
  | { type: 'config-bundle.changed'; configBundleId: string }
  /** The deployment has other bundles, or another order of them. */
  | { type: 'deployment.bundles'; deploymentId: string }
  /** What is known of a tag that instances of the deployment follow has changed, or whether they follow it. */
  | { type: 'deployment.following'; deploymentId: string }
  | { type: 'deployment.changed'; teamId: string; deploymentId: string; status: DeploymentStatus }
  /** The state of a run has changed, or, with `due`, it is to be started. */
  | { type: 'pipeline.run'; teamId: string; pipelineId: string; runId: string; due?: true }
  /** New rows in deployment_event up to and including `position`. */
  | { type: 'deployment.events'; deploymentId: string; try: number; position: number }
  | {
      type: 'editor.joined' | 'editor.left' | 'editor.focused' | 'editor.blurred'
      channel: string
      editor: { id: string; name: string; color: string; itemId?: string; inputId?: string }
    }
  | { type: 'editor.ask'; channel: string; origin: string }

export type BusEventType = BusEvent['type']
/**
 * Events that change the rights of a user: after the response to such a change, the server that sent it already applies
 * the change.
 */
export const rightsEvents: ReadonlySet<BusEventType> = new Set([
  'session.ended',
  'user.changed',
  'member.changed',
  'tokens.revoked',
  'team.changed',
])
/** The event of a type, also where several types share one shape. */
export type BusEventOf<T extends BusEventType> = BusEvent extends infer E
  ? E extends { type: infer U }
    ? T extends U
      ? E
      : never
    : never
  : never

export interface Bus {
  /** Best effort and quick: an unavailable bus is logged, never thrown. */
  publish(event: BusEvent): void
  on<T extends BusEventType>(type: T, heard: (event: BusEventOf<T>) => void): () => void
  /** Events may have been missed: subscribers read their cached data again. */
  onReconnected(heard: () => void): () => void
}

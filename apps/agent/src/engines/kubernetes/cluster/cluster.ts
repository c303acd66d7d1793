import type { EngineDescription, LogChunkLine, LogRequest } from '../../engine.ts'

/** The kinds of objects that the agent reads or writes. `cluster/kinds.ts` has their API paths. */
export type ObjectKind =
  | 'Namespace'
  | 'Deployment'
  | 'ReplicaSet'
  | 'Job'
  | 'Pod'
  | 'Service'
  | 'Ingress'
  | 'ConfigMap'
  | 'Secret'
  | 'PersistentVolumeClaim'
  | 'ResourceQuota'
  | 'ServiceMonitor'
  | 'Event'
  | 'Node'
  | 'Lease'

export interface ObjectMeta {
  name: string
  /** Absent for objects of the whole cluster. */
  namespace?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
}

/** An object to create or apply, as JSON of the Kubernetes API. */
export interface Manifest {
  apiVersion: string
  kind: ObjectKind
  metadata: ObjectMeta
  [field: string]: unknown
}

/** An object as the API server answers it. `fields` is everything but the metadata; it is foreign JSON and parsed where it is read. */
export interface ClusterObject {
  kind: ObjectKind
  name: string
  namespace: string
  uid: string
  resourceVersion: string
  generation: number
  createdAt: Date
  /** Set while the object is being deleted. */
  deletedAt: Date | undefined
  labels: Readonly<Record<string, string>>
  annotations: Readonly<Record<string, string>>
  owners: readonly { kind: string; name: string; uid: string }[]
  /** What has to happen before the object is gone once it is deleted. */
  finalizers: readonly string[]
  /** `spec`, `status`, `data` and so on. */
  fields: Readonly<Record<string, unknown>>
}

export interface ObjectRef {
  kind: ObjectKind
  /** Empty for objects of the whole cluster. */
  namespace: string
  name: string
}

export const toRef = ({ kind, metadata }: Pick<Manifest, 'kind' | 'metadata'>): ObjectRef => ({
  kind,
  namespace: metadata.namespace ?? '',
  name: metadata.name,
})

export interface ListFilter {
  /** Absent: all namespaces. */
  namespace?: string
  /** Labels that the objects must have, with these values; `undefined` stands for every value. */
  labels?: Readonly<Record<string, string | undefined>>
  /** `involvedObject.name=...` and the like. */
  fields?: Readonly<Record<string, string>>
}

export interface ListPage {
  objects: ClusterObject[]
  /** Where a watch continues. */
  resourceVersion: string
  /** Set again in the middle when the list had to begin again: what the earlier pages had does not count. */
  isFirst: boolean
}

/** `relist`: changes may have been missed, so everything must be listed again. */
export type WatchEvent =
  | { type: 'changed'; object: ClusterObject }
  | { type: 'deleted'; object: ClusterObject }
  | { type: 'relist' }

/** What a forced apply of a manifest would change. */
export interface AppliedPreview {
  /** The object as it is. */
  found: ClusterObject
  /** What of it this agent has applied. */
  owned: Manifest | undefined
  /** The object as it would be. */
  applied: ClusterObject
  /** All fields that the agent has applied or would apply, with the values that they have now: applied in turn, it undoes the apply. */
  previous: Manifest
}

/**
 * A cluster without types of its SDK; `client/` implements it. Errors are EngineErrors: `unavailable` when the API server does not answer,
 * `webhook-unavailable` when a webhook that it asks does not, `not-found`, `conflict` (the object exists, has changed, or another manager owns a
 * field), `refused` (a missing right, named with verb and resource, or an admission refusal), `other`.
 */
export interface Cluster {
  /** @throws EngineError `refused` for a cluster that is too old */
  describe(): Promise<EngineDescription>
  /** @throws EngineError `unavailable` unless the API server answers */
  assertAvailable(): Promise<void>
  /** Undefined when there is none. */
  get(ref: ObjectRef): Promise<ClusterObject | undefined>
  /** The object with the manifest that this agent last applied to it; no manifest when another program made it. Undefined when there is none. */
  getOwned(ref: ObjectRef): Promise<{ object: ClusterObject; manifest: Manifest | undefined } | undefined>
  /** Whether the cluster knows the kind: a ServiceMonitor exists only where its operator is installed. */
  serves(kind: ObjectKind): Promise<boolean>
  /**
   * The kinds of objects that a namespace may hold, as a quota names them: `secrets`, `widgets.example.com`.
   *
   * @throws EngineError `unavailable` when a part of the API does not describe its kinds
   */
  listNamespacedResources(): Promise<string[]>
  /** Reads page by page. `resourceVersion` is where a watch continues. */
  list(kind: ObjectKind, filter: ListFilter): Promise<{ objects: ClusterObject[]; resourceVersion: string }>
  /** Like `list`, for more objects than should be in memory at once. */
  pages(kind: ObjectKind, filter: ListFilter): AsyncIterable<ListPage>
  /** Creates an object that must not exist. @throws EngineError `conflict` when it exists, also when another program made it */
  create(manifest: Manifest): Promise<ClusterObject>
  /**
   * Changes an object that was read before, by server-side apply as the manager `crux`: fields that an earlier apply set and this one does
   * not name are removed. Fails if the object was replaced or changed in the meantime.
   *
   * @param options.force takes fields from other managers instead of failing
   * @throws EngineError `conflict` that names the field and its manager
   */
  apply(
    manifest: Manifest,
    known: Pick<ClusterObject, 'uid' | 'resourceVersion'>,
    options?: { force?: boolean },
  ): Promise<ClusterObject>
  /**
   * Asks the API what a forced apply would make of an object, and changes nothing. Undefined when there is no such object.
   *
   * @throws EngineError `conflict` when the object changes all the time
   */
  previewApply(manifest: Manifest): Promise<AppliedPreview | undefined>
  /**
   * Removes fields of an object that was read before, also those of other managers.
   *
   * @param paths JSON pointers, each valid when those before it are removed
   * @throws EngineError `conflict` when the object was changed in the meantime
   */
  removeFields(
    ref: ObjectRef,
    known: Pick<ClusterObject, 'resourceVersion'>,
    paths: readonly string[],
  ): Promise<ClusterObject>
  /**
   * Succeeds when the object does not exist any more, or is another one than `uid`. Waits for nothing.
   *
   * @param options.resourceVersion fails with the EngineError `conflict` if the object was changed or replaced since it was read
   */
  delete(ref: ObjectRef, options?: { uid?: string; resourceVersion?: string }): Promise<void>
  /** Resumes after interruptions; bookmarks keep the position fresh. Ends with the signal. Starts with `relist`. */
  watch(kind: ObjectKind, filter: ListFilter, signal: AbortSignal): AsyncIterable<WatchEvent>
  /** @param previous the log of the container that ran in the pod before its last restart */
  readLog(
    pod: { namespace: string; name: string; container: string; previous?: boolean },
    request: LogRequest,
  ): AsyncIterable<LogChunkLine[]>
  close(): void
}

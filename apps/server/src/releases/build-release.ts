import type { MessageInitShape } from '@bufbuild/protobuf'
import type { ClusterSettingsSchema, InstanceSchema, ReleaseSchema } from '@crux/agent-protocol'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { deletedNodeIds, findNodeCluster } from '../nodes/index.ts'
import { type PullCredentials, toPullCredentials } from '../registries/index.ts'
import { type StorageAccess, storageAccess } from '../storages/index.ts'
import { registryCredentials } from './credential-store.ts'
import { serverAddress } from './image-reference.ts'
import { lostStorages } from './start-checks.ts'
import { type NewRelease, previousContainers, type ReleaseInstanceRow } from './store.ts'

/** How long old and new containers run side by side after the handover, so that connections end and names are resolved again. */
const drainMs = 1_000

/** The release for the agent. It asks other services for credentials that exist for one release only. */
export type CompleteRelease = () => Promise<MessageInitShape<typeof ReleaseSchema>>

/**
 * Reads everything that the agent needs. Credentials are decrypted only here, from the registry's current row: a stored
 * release never has them, and a changed password works.
 *
 * @returns what completes the release after the transaction, which must not wait for other services. It throws CruxError for a registry whose
 *   credentials are refused
 * @throws CruxError preconditionFailed for credentials that cannot be decrypted, and for a storage that was deleted while
 *   the release waited
 */
export async function buildRelease(
  app: App,
  queries: Queries,
  release: Omit<
    NewRelease,
    | 'sourceNumber'
    | 'startedById'
    | 'startedByName'
    | 'trigger'
    | 'triggerReason'
    | 'deliveryIds'
    | 'leaseUntil'
    | 'dispatchedAt'
  >,
  instances: readonly ReleaseInstanceRow[],
): Promise<CompleteRelease> {
  const [previous, deletedNodes, stored, storages, cluster] = await Promise.all([
    previousContainers(queries, release),
    deletedNodeIds(queries, release.teamId),
    registryCredentials(app, queries, release.teamId, instances),
    listStorages(app, queries, release.teamId, instances),
    clusterSettings(queries, release.nodeId),
  ])
  const complete = (credentials: ReadonlyMap<string, PullCredentials>): MessageInitShape<typeof ReleaseSchema> => ({
    key: { deploymentId: release.deploymentId, number: release.number },
    owner: {
      teamId: release.teamId,
      projectId: release.projectId,
      nodeId: release.nodeId,
      prefix: release.prefix,
      deletedNodeIds: deletedNodes,
    },
    projectName: release.projectName,
    versionName: release.versionName,
    instances: instances.map((instance) =>
      toInstance(
        instance,
        credentials.get(instance.registryId ?? ''),
        storages.get(instance.config.storage?.storageId ?? ''),
      ),
    ),
    previous: previous.map(({ containerName, instanceId, deploymentId, number }) => ({
      containerName,
      instanceId,
      release: { deploymentId, number },
    })),
    recreate: release.recreate,
    observationWindowMs: app.config.observationWindowMs,
    hostDangerousAllowed: release.hostDangerousAllowed,
    partial: release.partial,
    takeBackFields: release.takeBackFields,
    drainMs,
    ...(cluster && { cluster }),
  })
  const nodeType = cluster ? 'k8s' : 'docker'
  return async () => {
    const credentials = [...stored].map(async ([id, one]) => [id, await toPullCredentials(app, one, nodeType)] as const)
    return complete(new Map(await Promise.all(credentials)))
  }
}

/** @returns undefined for a node of another engine */
async function clusterSettings(
  queries: Queries,
  nodeId: string,
): Promise<MessageInitShape<typeof ClusterSettingsSchema> | undefined> {
  const node = await findNodeCluster(queries, nodeId)
  if (node?.type !== 'k8s') return undefined
  const {
    allowForeignNamespaces = [],
    certificateIssuer,
    drainSeconds,
    ingressClass,
    storageClasses = [],
  } = node.cluster ?? {}
  return {
    ingressClass: ingressClass ?? '',
    certificateIssuer: certificateIssuer ?? '',
    storageClasses,
    foreignNamespaces: allowForeignNamespaces,
    drainSeconds,
  }
}

async function listStorages(app: App, queries: Queries, teamId: string, instances: readonly ReleaseInstanceRow[]) {
  const ids = instances.flatMap(({ config }) => (config.storage?.storageId ? [config.storage.storageId] : []))
  const storages = await storageAccess(app, queries, teamId, [...new Set(ids)])
  const lost = instances.filter(({ config }) => {
    const storageId = config.storage?.storageId
    return storageId && !storages.has(storageId)
  })
  if (lost.length > 0) throw lostStorages(lost.map((row) => ({ id: row.instanceId, name: row.containerName })))
  return storages
}

function toInstance(
  row: ReleaseInstanceRow,
  credentials: PullCredentials | undefined,
  storage: StorageAccess | undefined,
): MessageInitShape<typeof InstanceSchema> {
  return {
    instanceId: row.instanceId,
    imageName: row.imageName,
    imageTag: row.imageTag,
    imageDigest: row.digest ?? '',
    preparationDigests: row.preparationDigests,
    localOnly: row.localOnly,
    ...(credentials &&
      !row.localOnly && {
        registryAuth: {
          serverAddress: serverAddress(row.imageName),
          username: credentials.user,
          password: credentials.token,
        },
      }),
    ...(storage && {
      storage: {
        url: storage.url,
        accessKey: storage.keys?.accessKey ?? '',
        secretKey: storage.keys?.secretKey ?? '',
      },
    }),
    configJson: JSON.stringify(row.config),
  }
}

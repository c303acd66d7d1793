import type { Owner } from '@crux/agent-protocol'
import { agentLabels } from '@crux/rules'
import { pause } from '../../../concurrency/pause.ts'
import { EngineError, isEngineError, PlanError } from '../../../errors.ts'
import { isOfPrefix, isOwnedBy, label } from '../../labels.ts'
import type { Cluster, ClusterObject, Manifest } from '../cluster/cluster.ts'
import { toRef } from '../cluster/cluster.ts'
import { findHidingVariables, toRemovals } from '../drift/hiding-variables.ts'
import { unlockLeft } from '../locks/namespace-lock.ts'

/** How often a change is repeated that met another change of the same object, such as a new status. */
const attemptsMax = 6
const pauseMs = 40

/** @throws PlanError for an object of anybody else: such an object is never changed, adopted or deleted */
export function assertOwned(object: ClusterObject, owner: Owner, instanceId: string): void {
  if (isOwnedBy({ ...object.labels }, owner)) return
  throw new PlanError(
    instanceId,
    `the namespace ${object.namespace} has a ${object.kind} named ${object.name} that is not of this deployment: choose another name for the container, or delete the ${object.kind}`,
  )
}

export interface PutOptions {
  instanceId: string
  signal: AbortSignal
  /** Takes fields back from other managers, and removes variables of these names that others have set in its containers. */
  takeBack?: { variables: ReadonlySet<string> }
}

/** Creates an object, or changes it when it is ours. @throws PlanError for an object of anybody else */
export async function putObject(
  cluster: Cluster,
  manifest: Manifest,
  owner: Owner,
  { instanceId, signal, takeBack }: PutOptions,
): Promise<ClusterObject> {
  const ref = toRef(manifest)
  for (let attempt = 1; ; attempt += 1) {
    signal.throwIfAborted()
    const found = await cluster.get(ref)
    if (found) assertOwned(found, owner, instanceId)
    try {
      if (found?.deletedAt) throw new EngineError('conflict', `the ${ref.kind} ${ref.name} is being deleted`)
      if (!found) return await cluster.create(manifest)
      const hiding = takeBack ? findHidingVariables(found, manifest, takeBack.variables) : []
      const known = hiding.length > 0 ? await cluster.removeFields(ref, found, toRemovals(hiding)) : found
      return await cluster.apply(manifest, known, { force: takeBack !== undefined })
    } catch (error) {
      if (!isEngineError(error, 'conflict') || attempt >= attemptsMax) throw error
      await pause(pauseMs * 2 ** attempt, signal)
    }
  }
}

/**
 * Creates an object that never changes: its name says what it holds, or it must keep what it holds.
 *
 * @param isUsable whether an object of ours that exists may stay; otherwise it is replaced
 */
export async function ensureObject(
  cluster: Cluster,
  manifest: Manifest,
  owner: Owner,
  instanceId: string,
  isUsable: (found: ClusterObject) => boolean = () => true,
): Promise<ClusterObject> {
  const ref = toRef(manifest)
  const found = await cluster.get(ref)
  if (found) {
    assertOwned(found, owner, instanceId)
    if (isUsable(found)) return found
    await cluster.delete(ref, { uid: found.uid })
  }
  try {
    return await cluster.create(manifest)
  } catch (error) {
    const created = isEngineError(error, 'conflict') ? await cluster.get(ref) : undefined
    if (!created) throw error
    assertOwned(created, owner, instanceId)
    return created
  }
}

/** In a namespace that somebody else made: the node of Crux that deploys to it. */
const claimName = 'crux-node'
/** By it a namespace is known in which an agent keeps its token, such as that of another team's node. */
const nameLabel = 'app.kubernetes.io/name'

/** Whose namespaces may be used. */
export interface NamespaceUse {
  owner: Owner
  /** Namespaces that somebody else made, which an admin lets deployments use. */
  foreignNamespaces: readonly string[]
}

/**
 * Makes sure that the namespace of the prefix exists and that only this node deploys to it. Other objects of other owners may be in it; they
 * stay as they are.
 *
 * @returns whether somebody else made it
 * @throws PlanError as `assertNamespace`
 */
export async function ensureNamespace(
  cluster: Cluster,
  manifest: Manifest,
  use: NamespaceUse,
): Promise<{ isForeign: boolean }> {
  const ref = toRef(manifest)
  let found = await cluster.get(ref)
  if (!found) {
    try {
      found = await cluster.create(manifest)
    } catch (error) {
      found = isEngineError(error, 'conflict') ? await cluster.get(ref) : undefined
      if (!found) throw error
    }
  }
  await assertUsable(cluster, found, use)
  if (isOfNode(found, use.owner)) {
    await unlockLeft(cluster, { prefix: use.owner.prefix, scope: use.owner })
    return { isForeign: false }
  }
  // Somebody else's namespace has no labels of ours, so that an object in it says which node was first. Its creation decides between two.
  const claim: Manifest = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: claimName, namespace: ref.name, labels: manifest.metadata.labels ?? {} },
    immutable: true,
  }
  const claimed = await cluster.create(claim).catch((error: unknown) => {
    if (isEngineError(error, 'conflict')) return undefined
    throw error
  })
  if (!claimed) await assertUsable(cluster, found, use)
  return { isForeign: true }
}

/**
 * Asks whether the node may deploy to a namespace, and changes nothing.
 *
 * @returns whether somebody else made it
 * @throws PlanError for a namespace of anybody else. The other team is not named
 */
export async function assertNamespace(
  cluster: Cluster,
  name: string,
  use: NamespaceUse,
): Promise<{ isForeign: boolean }> {
  const found = await cluster.get({ kind: 'Namespace', namespace: '', name })
  if (!found) return { isForeign: false }
  await assertUsable(cluster, found, use)
  return { isForeign: !isOfNode(found, use.owner) }
}

async function assertUsable(cluster: Cluster, namespace: ClusterObject, use: NamespaceUse): Promise<void> {
  const { deletedAt, labels, name } = namespace
  if (deletedAt)
    throw new PlanError(
      '',
      `the namespace ${name} is being deleted: deploy again when it is gone, or choose another prefix`,
    )
  if (labels[nameLabel] === agentLabels[nameLabel])
    throw new PlanError('', `the namespace ${name} is that of an agent: choose another prefix`)
  if (isOfNode(namespace, use.owner)) return
  const isForeign = labels[label.node] === undefined && labels[label.team] === undefined
  if (!isForeign || !use.foreignNamespaces.includes(name)) refuseNamespace(name)
  const claim = await cluster.get({ kind: 'ConfigMap', namespace: name, name: claimName })
  if (claim && !isOfNode(claim, use.owner)) refuseNamespace(name)
}

const isOfNode = ({ labels }: ClusterObject, owner: Owner): boolean =>
  isOfPrefix(labels, { prefix: owner.prefix, scope: owner })

function refuseNamespace(name: string): never {
  throw new PlanError('', `the namespace ${name} exists and is not of this node: choose another prefix`)
}

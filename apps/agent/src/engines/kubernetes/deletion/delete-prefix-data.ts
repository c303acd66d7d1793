import { create } from '@bufbuild/protobuf'
import { type ClaimKey, type DeletedPrefixData, DeletedPrefixDataSchema, DeletionState } from '@crux/agent-protocol'
import { EngineError } from '../../../errors.ts'
import type { PrefixTarget } from '../../engine.ts'
import { isOfPrefix } from '../../labels.ts'
import { deletionLimitsMs } from '../locks/limits.ts'
import { poll } from '../locks/poll.ts'
import { checkNamespace } from '../rollout/check-namespace.ts'
import { deleteClaims, listClaims } from './claims.ts'
import { type Deletion, type DeletionContext, toReason, toRefusal } from './deletion-context.ts'
import { deleteNamespace } from './namespace.ts'
import { assertPrefix } from './prefix-name.ts'

const states = {
  deleted: DeletionState.DELETED,
  deleting: DeletionState.DELETING,
  kept: DeletionState.KEPT,
} as const satisfies Record<Deletion['state'], DeletionState>

/**
 * Deletes claims of a prefix and then its namespace, as they were chosen. May be repeated: what does not exist any more counts as deleted.
 *
 * @throws EngineError `conflict` while containers of the prefix exist; nothing is deleted then
 */
export async function deletePrefixData(
  context: DeletionContext,
  target: PrefixTarget,
  chosen: { claims: readonly Pick<ClaimKey, 'name' | 'uid'>[]; namespace: boolean },
): Promise<DeletedPrefixData> {
  try {
    assertPrefix(target.prefix)
    checkNamespace(context.node, target.prefix)
    await assertNoContainers(context, target)
    const claims = await deleteClaims(context, target, chosen.claims)
    const namespace = chosen.namespace ? await deleteNamespaceOfNone(context, target) : undefined
    return create(DeletedPrefixDataSchema, {
      claims: claims.map((deletion, index) => ({ ...toMessage(deletion), key: chosen.claims[index] ?? {} })),
      ...(namespace && { namespace: toMessage(namespace) }),
    })
  } catch (error) {
    throw toRefusal(error)
  }
}

const toMessage = (deletion: Deletion) => ({
  state: states[deletion.state],
  reason: deletion.state === 'deleted' ? '' : deletion.reason,
})

async function assertNoContainers({ node: { cluster }, signal }: DeletionContext, target: PrefixTarget): Promise<void> {
  const list = async (kind: 'Deployment' | 'Job' | 'Pod') =>
    (await cluster.list(kind, { namespace: target.prefix })).objects.filter(({ labels }) => isOfPrefix(labels, target))
  const workloads = [...(await list('Deployment')), ...(await list('Job'))].filter(({ deletedAt }) => !deletedAt)
  if (workloads.length > 0)
    throw new EngineError(
      'conflict',
      `The prefix ${target.prefix} still has containers: ${workloads.map(({ name }) => name).join(', ')}. Delete them first`,
    )
  let names: string[] = []
  const haveEnded = await poll(
    async () => {
      names = (await list('Pod')).map(({ name }) => name)
      return names.length === 0 || undefined
    },
    { signal, timeoutMs: deletionLimitsMs.podsEnd },
  )
  if (!haveEnded)
    throw new EngineError(
      'conflict',
      `Pods of the prefix ${target.prefix} have not ended yet: ${names.join(', ')}. Try again when they have`,
    )
}

/** A namespace goes with everything in it, so it stays with the first claim that does. */
async function deleteNamespaceOfNone(context: DeletionContext, target: PrefixTarget): Promise<Deletion> {
  try {
    const kept = (await listClaims(context.node.cluster, target)).map(({ name }) => name)
    if (kept.length > 0)
      return {
        state: 'kept',
        reason: `the namespace ${target.prefix} stays with its claims: ${kept.join(', ')}`,
      }
  } catch (error) {
    return { state: 'kept', reason: toReason(error) }
  }
  return deleteNamespace(context, target)
}

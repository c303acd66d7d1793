import { timestampDate } from '@bufbuild/protobuf/wkt'
import { type Claim, DeletionState } from '@crux/agent-protocol'
import { type Body, CruxError, Prefix, type ResponseInput } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import { unusableAnswer } from '../agent-links/index.ts'
import type { App } from '../context.ts'
import { engineScope, findNodeCluster, requireNodeForCommand } from '../nodes/index.ts'
import { findReleaseAhead } from '../releases/index.ts'

type Target = { nodeId: string; prefix: string }

const readTimeoutMs = 20_000
/** The agent waits for pods to end, for the cluster to count what is in a namespace, and for its end. Many proxies end a request after 60 s. */
const deleteTimeoutMs = 58_000

const states = {
  [DeletionState.DELETED]: 'deleted',
  [DeletionState.DELETING]: 'deleting',
  [DeletionState.KEPT]: 'kept',
} as const

/** @throws CruxError notFound for a node of another team, preconditionFailed for one that is no cluster, otherwise as `app.links.request` */
export async function getPrefixData(
  app: App,
  caller: Caller,
  target: Target,
): Promise<ResponseInput<'prefix-data.get'>> {
  const command = await toCommand(app, caller, target)
  const answer = await app.links.request(target.nodeId, { case: 'findPrefixData', value: command }, readTimeoutMs)
  if (answer.case !== 'prefixData') throw unusableAnswer()
  const { claims, foreignObjects, namespaceExists, namespaceReason } = answer.value
  return {
    claims: claims.map(toClaim),
    namespace: {
      exists: namespaceExists,
      reason: namespaceReason || null,
      foreignObjects: foreignObjects.map(({ kind, name }) => ({ kind, name })),
    },
  }
}

const toClaim = ({ createdAt, key, phase, size, storageClass, volumeName }: Claim) => ({
  name: key?.name ?? '',
  uid: key?.uid ?? '',
  volumeName: volumeName || null,
  size,
  storageClass: storageClass || null,
  phase,
  createdAt: createdAt ? timestampDate(createdAt).toISOString() : null,
})

/**
 * Deletes what was chosen. What could not be deleted is in the answer, with the reason, so that it is known what was.
 *
 * @throws CruxError as `getPrefixData`, and preconditionFailed `status` while a release of the prefix is in progress; the agent refuses that
 *   too, when one starts at the same moment
 */
export async function deletePrefixData(
  app: App,
  caller: Caller,
  target: Target,
  { claims, namespace }: Body<'prefix-data.delete'>,
): Promise<ResponseInput<'prefix-data.delete'>> {
  if (claims.length === 0 && !namespace)
    throw new CruxError('invalidArgument', { property: 'claims', description: 'Nothing was chosen to be deleted.' })
  const command = await toCommand(app, caller, target)
  const ahead = await findReleaseAhead(app.database.pool, target)
  if (ahead)
    throw new CruxError('preconditionFailed', {
      property: 'status',
      description: `${ahead.title} is in progress under ${target.prefix}: wait until it ends, or cancel it first.`,
    })
  const chosen = [...new Map(claims.map((claim) => [claim.name, claim])).values()]
  const value = { ...command, claims: chosen, namespace }
  const answer = await app.links.request(target.nodeId, { case: 'deletePrefixData', value }, deleteTimeoutMs)
  if (answer.case !== 'deletedPrefixData') throw unusableAnswer()
  const results = new Map(answer.value.claims.map((claim) => [claim.key?.name, claim]))
  return {
    claims: chosen.map(({ name, uid }) => ({ name, uid, ...toDeletion(results.get(name)) })),
    namespace: namespace ? toDeletion(answer.value.namespace) : null,
  }
}

/** @throws CruxError badGateway for a part that the agent does not answer */
function toDeletion(deletion: { state: DeletionState; reason: string } | undefined) {
  const state = deletion?.state ?? DeletionState.UNSPECIFIED
  if (state === DeletionState.UNSPECIFIED) throw unusableAnswer()
  return { state: states[state], reason: deletion?.reason || null }
}

async function toCommand(app: App, { team }: Caller, { nodeId, prefix }: Target) {
  if (!Prefix.safeParse(prefix).success)
    throw new CruxError('invalidArgument', { property: 'prefix', value: prefix, description: 'This is no prefix.' })
  await requireNodeForCommand(app, team, nodeId)
  const node = await findNodeCluster(app.database.pool, nodeId)
  if (node?.type !== 'k8s')
    throw new CruxError('preconditionFailed', {
      property: 'node',
      value: nodeId,
      description: 'Only a cluster keeps claims and a namespace under a prefix.',
    })
  return { prefix, scope: await engineScope(app, { teamId: team.id, nodeId }) }
}

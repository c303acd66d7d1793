import { type Queries, sql } from '../db/queries.ts'
import type { ReleaseRow } from './store.ts'

type Position = { deploymentId: string; number: number; acknowledged: string; abandoned: boolean }

/** Where the journals of these releases continue: of those that may still change here. */
export const selectPositions = (
  queries: Queries,
  nodeId: string,
  keys: readonly { deploymentId: string; number: number }[],
) =>
  sql`select r.deployment_id, r.number, r.acknowledged_sequence as acknowledged, r.status = 'failed' as abandoned
    from crux.release r join jsonb_to_recordset(${JSON.stringify(
      keys.map(({ deploymentId, number }) => ({ id: deploymentId, number })),
    )}::jsonb) as k(id text, number int) on r.deployment_id::text = k.id and r.number = k.number
    where r.node_id = ${nodeId} and (r.status in ('in-progress', 'successful')
      or (r.status = 'failed' and r.lease_until is not null))`.rows<Position>(queries)

export const acknowledgeJournal = (queries: Queries, releaseId: string, sequence: bigint) =>
  sql`update crux.release set acknowledged_sequence = ${sequence}
    where id = ${releaseId}`.execute(queries, 'acknowledge journal')

/** What a journal says of an instance; absent fields stay as they are. */
export type InstanceChange = {
  digest?: string
  preparationDigests?: Record<string, string>
  phase?: string
  phaseState?: string
}
type Resolved = { name: string; digest: string | null; preparations: Record<string, string> }

/** @returns the images of the changed instances, with the digests that are known of them */
export const updateInstances = (queries: Queries, releaseId: string, changes: ReadonlyMap<string, InstanceChange>) =>
  sql`update crux.release_instance ri set digest = coalesce(nullif(c.digest, ''), ri.digest),
      preparation_digests = coalesce(c."preparationDigests", ri.preparation_digests),
      phase = coalesce(c.phase, ri.phase), phase_state = coalesce(c."phaseState", ri.phase_state)
    from jsonb_to_recordset(${JSON.stringify([...changes].map(([id, change]) => ({ id, ...change })))}::jsonb)
      as c(id text, digest text, "preparationDigests" jsonb, phase text, "phaseState" text)
    where ri.release_id = ${releaseId} and ri.instance_id::text = c.id
    returning ri.image_name as name, ri.digest, ri.preparation_digests as preparations`.rows<Resolved>(
    queries,
    'fold journal into instances',
  )

/** Keeps the events of the previous journal without a sequence, and forgets the progress. */
export async function resetJournal(
  queries: Queries,
  { id, deploymentId, number, nodeId }: ReleaseRow,
): Promise<{ nodeName: string }> {
  await sql`update crux.release set acknowledged_sequence = 0 where id = ${id}`.execute(queries)
  await sql`update crux.release_instance set phase = null, phase_state = null where release_id = ${id}`.execute(queries)
  await sql`update crux.deployment_event set agent_sequence = null
    where deployment_id = ${deploymentId} and attempt = ${number}`.execute(queries)
  return sql`select name as node_name from crux.node where id = ${nodeId}`.one<{ nodeName: string }>(queries)
}

import type { LastRelease } from '@crux/contract'
import { raw } from '../db/queries.ts'

type Ahead = NonNullable<LastRelease['queuedBehind']> & { startedAt: number; id: string }
export type LastReleaseRow = {
  outcome: string | null
  progress: { done: number; total: number } | null
  /** The releases before it at its deployment target, in no order. */
  ahead: Ahead[] | null
}

/**
 * The progress of a release of the deployment `d` and its position in the queue, looked up only for releases in
 * progress. Releases that the agent has come first, also before one that was started earlier and stored later.
 */
export const lastReleaseColumns = raw(`d.outcome,
  case when d.status = 'in-progress' then (
    select json_build_object('total', count(*), 'done', count(*) filter (
      where ri.phase in ('swap', 'clean-up') or (ri.phase = 'verify' and ri.phase_state in ('done', 'skipped'))))
    from crux.release r join crux.release_instance ri on ri.release_id = r.id
    where r.deployment_id = d.id and r.number = d.attempts) end as progress,
  case when d.status = 'in-progress' then (
    select json_agg(json_build_object('startedAt', case when a.dispatched_at is null then extract(epoch from a.started_at) else 0 end, 'id', a.id,
      'deploymentId', a.deployment_id, 'number', a.number, 'projectName', a.project_name, 'versionName', a.version_name,
      'projectType', (select p.type from crux.project p where p.id = a.project_id)))
    from crux.release r
    join crux.release a on a.node_id = r.node_id and a.prefix = r.prefix and a.status = 'in-progress'
      and (a.dispatched_at is null, a.started_at, a.id) < (true, r.started_at, r.id)
    where r.deployment_id = d.id and r.number = d.attempts and r.dispatched_at is null) end as ahead`)

export const toLastRelease = ({ outcome, progress, ahead }: LastReleaseRow): LastRelease => ({
  outcome,
  progress,
  queuePosition: ahead?.length ?? null,
  queuedBehind: ahead ? toFirst(ahead) : null,
})

/** The oldest, which the whole queue waits for. Selected here, because the list's query does not sort. */
function toFirst(ahead: readonly Ahead[]): LastRelease['queuedBehind'] {
  const isBefore = (one: Ahead, other: Ahead) =>
    one.startedAt === other.startedAt ? one.id < other.id : one.startedAt < other.startedAt
  const first = ahead.reduce((one, other) => (isBefore(other, one) ? other : one))
  const { deploymentId, number, projectName, projectType, versionName } = first
  return { deploymentId, number, projectName, projectType, versionName }
}

import type { PipelineStatus, ResponseInput } from '@crux/contract'
import { type Queries, sql } from '../db/queries.ts'
import type { RunReport } from './api/pipeline-api.ts'
import type { StoredInput } from './store.ts'

type WireRun = ResponseInput<'pipelines.runs'>['items'][number]
export type RunRow = {
  id: string
  pipelineId: string
  startedAt: Date
  finishedAt: Date | null
  status: PipelineStatus
  creatorType: 'user' | 'eventWatcher'
  createdById: string
  createdByName: string
  eventWatcherId: string | null
  /** PostgreSQL's bigint, as text. */
  externalId: string | null
  url: string | null
  reason: string | null
}

const face = sql`r.id, r.pipeline_id, r.created_at as started_at, r.finished_at, r.status, r.creator_type,
  r.created_by_id, r.created_by_name, r.event_watcher_id, r.external_id::text as external_id, r.url, r.reason`
const newestFirst = sql`order by r.created_at desc nulls first, r.id desc nulls first`

export const selectRuns = (queries: Queries, pipelineId: string, { skip, take }: { skip: number; take: number }) =>
  sql`select ${face}, r.inputs from crux.pipeline_run r where r.pipeline_id = ${pipelineId}
    ${newestFirst} limit ${take} offset ${skip}`.rows<RunRow & { inputs: StoredInput[] }>(queries, 'runs of pipeline')

export const countRuns = async (queries: Queries, pipelineId: string): Promise<number> =>
  (await sql`select count(*)::int from crux.pipeline_run where pipeline_id = ${pipelineId}`.value<number>(
    queries,
    'count runs of pipeline',
  )) ?? 0

/** The newest run of each of these pipelines, by pipeline. */
export async function selectLastRuns(queries: Queries, pipelineIds: readonly string[]): Promise<Map<string, RunRow>> {
  if (pipelineIds.length === 0) return new Map()
  const rows = await sql`select last.* from unnest(${pipelineIds}::uuid[]) as wanted (id) cross join lateral (
      select ${face} from crux.pipeline_run r where r.pipeline_id = wanted.id ${newestFirst} limit 1) last`.rows<RunRow>(
    queries,
    'last runs of pipelines',
  )
  return new Map(rows.map((row) => [row.pipelineId, row]))
}

/** The newest run of each pipeline of a team. */
export const selectLastRunsOfTeam = (queries: Queries, teamId: string) =>
  sql`select last.* from crux.pipeline p cross join lateral (
      select ${face} from crux.pipeline_run r where r.pipeline_id = p.id ${newestFirst} limit 1) last
    where p.team_id = ${teamId}`.rows<RunRow>(queries, 'last runs of team')

export const selectRun = (queries: Queries, id: string) =>
  sql`select ${face}, r.inputs from crux.pipeline_run r where r.id = ${id}`.first<RunRow & { inputs: StoredInput[] }>(
    queries,
    'run of pipeline',
  )

/**
 * A run that a user starts: the server that inserts it asks the service for it.
 *
 * @returns undefined when the pipeline has moved or was deleted meanwhile
 */
export const insertUserRun = (
  queries: Queries,
  run: {
    pipelineId: string
    moves: number
    inputs: readonly StoredInput[]
    by: { id: string; name: string }
    leaseS: number
  },
) =>
  sql`insert into crux.pipeline_run (pipeline_id, moves, status, inputs, creator_type, created_by_id, created_by_name,
      requested_at, next_check_at)
    select id, moves, 'queued', ${JSON.stringify(run.inputs)}::jsonb, 'user', ${run.by.id}, ${run.by.name}, now(),
      now() + ${run.leaseS} * interval '1 second'
    from crux.pipeline where id = ${run.pipelineId} and moves = ${run.moves} for key share
    returning id, created_at`.first<{ id: string; createdAt: Date }>(queries, 'insert run')

/**
 * Stores what the service answered to the request for a run, unless the run has ended meanwhile.
 *
 * @returns whether the run has a number now: it does not get one that another run of the pipeline has
 */
export const storeStarted = async (
  queries: Queries,
  id: string,
  { externalId, url, checkInS }: { externalId: bigint | undefined; url: string | undefined; checkInS: number },
): Promise<boolean> => {
  const number = sql`${externalId?.toString() ?? null}::bigint`
  const isTaken = sql`exists (select from crux.pipeline_run other where other.pipeline_id = r.pipeline_id
    and other.moves = r.moves and other.external_id = ${number} and other.id <> r.id)`
  const has = await sql`update crux.pipeline_run r
    set external_id = coalesce(r.external_id, case when not ${isTaken} then ${number} end),
      url = coalesce(r.url, case when not ${isTaken} then ${url ?? null} end), reported_at = now(),
      next_check_at = case when r.status in ('queued', 'running') then now() + ${checkInS} * interval '1 second' end
    where r.id = ${id} returning r.external_id is not null as has_number`.value<boolean>(queries, 'store start of run')
  return has ?? false
}

/** When the service is asked for the run next; nothing for a run that has ended. */
export const scheduleCheck = (queries: Queries, id: string, inS: number) =>
  sql`update crux.pipeline_run set next_check_at = now() + ${inS} * interval '1 second'
    where id = ${id} and status in ('queued', 'running')`.execute(queries, 'schedule check of run')

/**
 * Stores a state that the service reports. States never go backwards, whichever of several reports comes first; a run
 * that counted as unknown may still get its result.
 *
 * @returns whether the status changed
 */
export async function storeReport(queries: Queries, id: string, report: RunReport): Promise<boolean> {
  const isFinal = report.status === 'successful' || report.status === 'failed'
  const from = isFinal
    ? ['queued', 'running', 'unknown']
    : ['queued', ...(report.status === 'running' ? ['running'] : [])]
  const rows = await sql`update crux.pipeline_run r set status = ${report.status}, reported_at = now(),
      external_id = coalesce(r.external_id, ${report.externalId?.toString() ?? null}::bigint),
      url = coalesce(r.url, ${report.url ?? null}),
      reason = case when ${isFinal} then ${report.reason ?? null} else r.reason end,
      finished_at = case when ${isFinal}
        then least(now(), greatest(r.created_at, ${report.finishedAt ?? null}::timestamptz)) end,
      next_check_at = case when not ${isFinal} then r.next_check_at end
    where r.id = ${id} and r.status = any(${from}::text[])
    returning (old.status <> new.status) as changed`.rows<{ changed: boolean }>(queries, 'store state of run')
  return rows[0]?.changed ?? false
}

/**
 * Ends a run of which the service tells nothing.
 *
 * @returns false when it has ended already
 */
export const endRun = async (
  queries: Queries,
  id: string,
  { status, reason }: { status: 'failed' | 'unknown'; reason: string },
): Promise<boolean> =>
  (await sql`update crux.pipeline_run set status = ${status}, reason = ${reason}, next_check_at = null,
      finished_at = case when ${status} = 'failed' then now() end
    where id = ${id} and status in ('queued', 'running')`.execute(queries, 'end run')) === 1

/** Ends the runs of a pipeline that moved: the new place does not know them. @returns their ids */
export const endRunsOfMoved = (queries: Queries, pipelineId: string, reason: string) =>
  sql`update crux.pipeline_run set status = 'unknown', reason = ${reason}, next_check_at = null
    where pipeline_id = ${pipelineId} and status in ('queued', 'running') returning id`.column(
    queries,
    'end runs of moved pipeline',
  )

/** The run that the service has under this number at the pipeline's present place. */
export const selectRunByNumber = (queries: Queries, pipelineId: string, externalId: bigint) =>
  sql`select r.id from crux.pipeline_run r join crux.pipeline p on p.id = r.pipeline_id and p.moves = r.moves
    where r.pipeline_id = ${pipelineId} and r.external_id = ${externalId.toString()}::bigint`.value(
    queries,
    'run by number',
  )

/** A run that the service was asked for and has not named a number of, by our own id. */
export const selectRunWithoutNumber = (queries: Queries, pipelineId: string, ids: readonly string[]) =>
  sql`select r.id from crux.pipeline_run r join crux.pipeline p on p.id = r.pipeline_id and p.moves = r.moves
    where r.id = any(${ids}::uuid[]) and r.pipeline_id = ${pipelineId} and r.external_id is null
      and r.requested_at is not null limit 1`.value(queries, 'run without number')

export const toRun = (row: RunRow & { inputs?: StoredInput[] }): WireRun => ({
  id: row.id,
  startedAt: row.startedAt,
  finishedAt: row.finishedAt,
  status: row.status,
  creatorType: row.creatorType,
  ...(row.creatorType === 'user'
    ? { startedBy: { id: row.createdById, name: row.createdByName } }
    : { eventWatcher: { id: row.eventWatcherId, name: row.createdByName } }),
  externalId: row.externalId,
  url: row.url,
  reason: row.reason,
  ...(row.inputs && { inputs: row.inputs }),
})

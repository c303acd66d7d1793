import type { PipelineType } from '@crux/contract'
import { type Queries, sql } from '../db/queries.ts'
import type { RunEvent } from '../db/schema/pipelines.ts'
import { type StoredInput, toLocation } from './store.ts'

/** A run whose turn it is, for this server alone. */
export type ClaimedRun = {
  id: string
  pipelineId: string
  teamId: string
  /** That of the pipeline, together with its location. */
  moves: number
  createdAt: Date
  inputs: StoredInput[]
  event: RunEvent | null
  externalId: bigint | undefined
  /** How often the service was asked for it before. */
  checks: number
  /** No server has asked the service for the run yet: this one does. */
  isNew: boolean
  /** Seconds since a server asked for the run, and since the service last reported its state; both from the database's clock. */
  ageS: number
  silentS: number
  location: ReturnType<typeof toLocation>
}
type Row = Omit<ClaimedRun, 'externalId' | 'location'> & {
  externalId: string | null
  type: PipelineType
  organization: string
  project: string
  branch: string | null
  triggerName: string
  externalProjectId: string | null
  externalPipelineId: string | null
}

/**
 * Claims runs that are due. A claim ends after `leaseS`, so that another server goes on when this one is lost. A run that
 * is new is marked as requested by the same statement: however many servers try, one of them asks the service for it.
 *
 * @param except pipelines that this server asks about already, and teams for which it has enough requests
 */
export async function claimRuns(
  queries: Queries,
  options: { max: number; leaseS: number; except: { pipelines: readonly string[]; teams: readonly string[] } },
): Promise<ClaimedRun[]> {
  const { max, leaseS, except } = options
  const rows = await sql`update crux.pipeline_run r
    set next_check_at = now() + ${leaseS} * interval '1 second', checks = r.checks + 1,
      requested_at = coalesce(r.requested_at, now())
    from crux.pipeline p where p.id = r.pipeline_id and r.id in (
      select due.id from crux.pipeline_run due
      where due.next_check_at <= now() and not (due.pipeline_id = any(${except.pipelines}::uuid[]))
        and not exists (select from crux.pipeline of_team
          where of_team.id = due.pipeline_id and of_team.team_id = any(${except.teams}::uuid[]))
      order by due.next_check_at limit ${max} for update skip locked)
    returning r.id, r.pipeline_id, p.team_id, p.moves, r.created_at, r.inputs, r.event, r.external_id::text as external_id,
      old.checks as checks, old.requested_at is null as is_new,
      extract(epoch from now() - new.requested_at)::float8 as age_s,
      extract(epoch from now() - coalesce(new.reported_at, new.created_at))::float8 as silent_s,
      p.type, p.organization, p.project, p.branch, p.trigger_name, p.external_project_id,
      p.external_pipeline_id`.rows<Row>(queries, 'claim runs')
  return rows.map(({ externalId, ...row }) => ({
    id: row.id,
    pipelineId: row.pipelineId,
    teamId: row.teamId,
    moves: row.moves,
    createdAt: row.createdAt,
    inputs: row.inputs,
    event: row.event,
    externalId: externalId === null ? undefined : BigInt(externalId),
    checks: row.checks,
    isNew: row.isNew,
    ageS: row.ageS,
    silentS: row.silentS,
    location: toLocation({ ...row, id: row.pipelineId, name: '', description: null, icon: null }),
  }))
}

/** Stores the inputs with which the service is asked for a run that an event started. */
export const storeInputs = (queries: Queries, id: string, inputs: readonly StoredInput[]) =>
  sql`update crux.pipeline_run set inputs = ${JSON.stringify(inputs)}::jsonb, event = null
    where id = ${id}`.execute(queries, 'store inputs of run')

/** Lets another attempt ask the service for a run that it has certainly not started. */
export const releaseRun = (queries: Queries, id: string, inS: number) =>
  sql`update crux.pipeline_run set requested_at = null, next_check_at = now() + ${inS} * interval '1 second'
    where id = ${id} and status = 'queued'`.execute(queries, 'release run')

/** A limit of requests counts for all runs of a pipeline. */
export const blockChecks = (queries: Queries, pipelineId: string, forS: number) =>
  sql`update crux.pipeline_run set next_check_at = greatest(next_check_at, now() + ${forS} * interval '1 second')
    where pipeline_id = ${pipelineId} and next_check_at is not null`.execute(queries, 'block checks of pipeline')

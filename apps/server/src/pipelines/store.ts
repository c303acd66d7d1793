import type { PipelineType, ResponseInput } from '@crux/contract'
import { type Queries, sql } from '../db/queries.ts'
import type { IconName } from '../db/schema/columns.ts'
import type { ExternalIds, PipelineLocation, RunInput } from './api/pipeline-api.ts'

export type PipelineSummary = {
  id: string
  name: string
  type: PipelineType
  description: string | null
  icon: IconName | null
  organization: string
  project: string
  branch: string | null
  triggerName: string
}
export type StoredInput = RunInput & { id?: string | undefined }
export type PipelineRow = PipelineSummary &
  ExternalIds & {
    teamId: string
    inputs: StoredInput[]
    moves: number
    createdAt: Date
    createdBy: string
    updatedAt: Date
    updatedBy: string
    hookId: string | null
    hookProblem: string | null
    hookState: 'active' | 'failed' | 'none'
    lastDeliveryAt: Date | null
  }

/** All columns but the token, which queries that serve responses never select. */
const face = sql`p.id, p.name, p.type, p.description, p.icon, p.organization, p.project, p.branch, p.trigger_name`
const details = sql`${face}, p.team_id, p.external_project_id, p.external_pipeline_id, p.inputs, p.moves, p.created_at,
  p.created_by, p.updated_at, p.updated_by, h.external_id as hook_id, h.problem as hook_problem, h.last_delivery_at,
  case when h.pipeline_id is null then 'none' when h.external_id is null then 'failed' else 'active' end as hook_state`

export const selectPipelines = (queries: Queries, teamId: string) =>
  sql`select ${face} from crux.pipeline p where p.team_id = ${teamId} order by p.name`.rows<PipelineSummary>(
    queries,
    'pipelines',
  )

/** @returns undefined when it does not exist in this team */
export const selectPipeline = (queries: Queries, teamId: string, id: string) =>
  sql`select ${details} from crux.pipeline p left join crux.pipeline_hook h on h.pipeline_id = p.id
    where p.id = ${id} and p.team_id = ${teamId}`.first<PipelineRow>(queries, 'pipeline')

/** The sealed token, for callers that open it at once and store it nowhere. */
export const selectToken = (queries: Queries, id: string) =>
  sql`select token from crux.pipeline where id = ${id}`.value(queries, 'token of pipeline')

/**
 * The sealed token of a pipeline that is still where it was: a token is sent to no service but its own.
 *
 * @returns undefined when the pipeline has moved or was deleted meanwhile
 */
export const selectTokenAt = (queries: Queries, id: string, moves: number) =>
  sql`select token from crux.pipeline where id = ${id} and moves = ${moves}`.value(
    queries,
    'token of pipeline at place',
  )

export const lockPipeline = async (queries: Queries, teamId: string, id: string): Promise<Date | undefined> =>
  sql`select updated_at from crux.pipeline where id = ${id} and team_id = ${teamId} for update`.value<Date>(queries)

export type PipelineValues = Omit<PipelineSummary, 'id'> &
  ExternalIds & { inputs: readonly StoredInput[]; userId: string }

export const insertPipeline = (
  queries: Queries,
  teamId: string,
  { id, token, ...values }: PipelineValues & { id: string; token: string },
) =>
  sql`insert into crux.pipeline (id, team_id, name, type, description, icon, organization, project, branch,
      trigger_name, external_project_id, external_pipeline_id, inputs, token, created_by, updated_by)
    values (${id}, ${teamId}, ${values.name}, ${values.type}, ${values.description}, ${values.icon},
      ${values.organization}, ${values.project}, ${values.branch}, ${values.triggerName},
      ${values.externalProjectId}, ${values.externalPipelineId}, ${JSON.stringify(values.inputs)}::jsonb, ${token},
      ${values.userId}, ${values.userId})`.execute(queries)

/** @param token undefined keeps the stored one */
export const updatePipeline = (
  queries: Queries,
  id: string,
  values: PipelineValues,
  { token, isMoved }: { token: string | undefined; isMoved: boolean },
) =>
  sql`update crux.pipeline set name = ${values.name}, type = ${values.type}, description = ${values.description},
      icon = ${values.icon}, organization = ${values.organization}, project = ${values.project},
      branch = ${values.branch}, trigger_name = ${values.triggerName},
      external_project_id = ${values.externalProjectId}, external_pipeline_id = ${values.externalPipelineId},
      inputs = ${JSON.stringify(values.inputs)}::jsonb, token = coalesce(${token ?? null}, token),
      moves = moves + ${isMoved ? 1 : 0}::int, updated_at = now(), updated_by = ${values.userId}
    where id = ${id}`.execute(queries)

export const deletePipeline = async (queries: Queries, teamId: string, id: string): Promise<boolean> =>
  (await sql`delete from crux.pipeline where id = ${id} and team_id = ${teamId}`.execute(queries)) === 1

export type HookValues = { externalId: string | null; secret: string | null; problem: string | null }

export const upsertHook = (queries: Queries, pipelineId: string, { externalId, secret, problem }: HookValues) =>
  sql`insert into crux.pipeline_hook as h (pipeline_id, external_id, secret, problem)
    values (${pipelineId}, ${externalId}, ${secret}, ${problem})
    on conflict (pipeline_id) do update set external_id = excluded.external_id, secret = excluded.secret,
      problem = excluded.problem, last_delivery_at = null`.execute(queries)

export const selectTeamOfPipeline = (queries: Queries, id: string) =>
  sql`select team_id from crux.pipeline where id = ${id}`.value(queries, 'team of pipeline')

export const touchHook = (queries: Queries, pipelineId: string) =>
  sql`update crux.pipeline_hook set last_delivery_at = now() where pipeline_id = ${pipelineId}
    and (last_delivery_at is null or last_delivery_at < now() - interval '10 seconds')`.execute(queries)

export const toLocation = (row: PipelineSummary & ExternalIds): PipelineLocation => ({
  type: row.type,
  organization: row.organization,
  project: row.project,
  branch: row.branch,
  triggerName: row.triggerName,
  externalProjectId: row.externalProjectId,
  externalPipelineId: row.externalPipelineId,
})

export const toPipeline = (row: PipelineSummary): ResponseInput<'pipelines.list'>[number] => ({
  id: row.id,
  name: row.name,
  type: row.type,
  description: row.description,
  icon: row.icon,
  repository: { organization: row.organization, project: row.project, branch: row.branch },
  trigger: row.triggerName,
})

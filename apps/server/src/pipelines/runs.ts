import { type Body, CruxError, isAllowed, type ResponseInput } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import { recordEvent } from '../system/index.ts'
import { findPipeline } from './actions.ts'
import { changedMeanwhile, toCallerError } from './connection.ts'
import { publishRun } from './events.ts'
import { assertInputSize, withIds } from './inputs.ts'
import { leaseS, requestRun } from './request-run.ts'
import * as runStore from './run-store.ts'
import { type PipelineRow, type StoredInput, toLocation } from './store.ts'

type GivenInputs = NonNullable<Body<'pipelines.trigger'>>['inputs']

export async function listRuns(
  app: App,
  { team }: Caller,
  pipelineId: string,
  page: { skip: number; take: number },
): Promise<ResponseInput<'pipelines.runs'>> {
  const { pool } = app.database
  await findPipeline(pool, team, pipelineId)
  const [rows, total] = await Promise.all([
    runStore.selectRuns(pool, pipelineId, page),
    runStore.countRuns(pool, pipelineId),
  ])
  return { items: rows.map(runStore.toRun), total }
}

/**
 * Starts a run. It is stored before the service is asked for it, so that no run that the service started is unknown to
 * Crux; a run that the service refuses stays in the list with the reason.
 *
 * @throws CruxError forbidden `inputs[i].key`, `token`; invalidArgument or notFound as the service says;
 *   preconditionFailed when it cannot be asked
 */
export async function triggerPipeline(
  app: App,
  caller: Caller,
  pipelineId: string,
  given: GivenInputs,
): Promise<ResponseInput<'pipelines.trigger'>> {
  const { team, actor } = caller
  const { pool } = app.database
  const row = await findPipeline(pool, team, pipelineId)
  if (given) assertInputs(caller, row, given)
  const inputs: StoredInput[] = given ? withIds(given) : row.inputs
  const inserted = await runStore.insertUserRun(pool, {
    pipelineId,
    moves: row.moves,
    inputs,
    by: { id: actor.id, name: actor.name },
    leaseS,
  })
  if (!inserted) throw changedMeanwhile()
  const { id, createdAt } = inserted
  publishRun(app, { teamId: team.id, pipelineId, runId: id })
  const { error } = await requestRun(app, {
    id,
    pipelineId,
    teamId: team.id,
    moves: row.moves,
    createdAt,
    inputs,
    location: toLocation(row),
  })
  if (error) throw toCallerError(error)
  recordEvent(app, { teamId: team.id, pipelineId, runId: id }, 'pipeline triggered')
  const run = await runStore.selectRun(pool, id)
  if (!run) throw changedMeanwhile()
  return runStore.toRun(run)
}

/**
 * Inputs are variables of a pipeline that runs with the rights of the team's token. Members and tokens may set those
 * that an admin has put into the pipeline, and no others, because any variable could change what the pipeline does.
 */
function assertInputs({ team, actor }: Caller, row: PipelineRow, given: readonly { key: string; value: string }[]) {
  assertInputSize(given, 'inputs')
  if (isAllowed(team.role, 'pipelines.edit') && !actor.grant) return
  const offered = new Set(row.inputs.map(({ key }) => key))
  const index = given.findIndex(({ key }) => !offered.has(key))
  if (index < 0) return
  throw new CruxError('forbidden', {
    property: `inputs[${index}].key`,
    value: given[index]?.key,
    description: actor.grant
      ? 'A token may only change inputs that the pipeline has: an admin can add this one to it.'
      : 'You may only change inputs that the pipeline has: ask an admin to add this one to it.',
  })
}

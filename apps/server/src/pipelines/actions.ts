import { CruxError, type PipelineWrite, type ResponseInput } from '@crux/contract'
import type { Caller, TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import { newId } from '../db/new-id.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { recordEvent } from '../system/index.ts'
import type { ExternalIds, PipelineLocation } from './api/pipeline-api.ts'
import { openPipeline, openToken, sealToken, toCallerError } from './connection.ts'
import { publishRun } from './events.ts'
import { assertInputSize, withIds } from './inputs.ts'
import { endRunsOfMoved, selectLastRuns, toRun } from './run-store.ts'
import { createHook, deleteHook, type OldHook } from './service-hook.ts'
import { toServicePage } from './service-page.ts'
import * as store from './store.ts'
import { selectWatchers, toWatcher } from './watcher-store.ts'

type OldHookResult = ResponseInput<'pipelines.delete'>

export async function listPipelines(app: App, { team }: Caller): Promise<ResponseInput<'pipelines.list'>> {
  const rows = await store.selectPipelines(app.database.pool, team.id)
  const runs = await selectLastRuns(
    app.database.pool,
    rows.map(({ id }) => id),
  )
  return rows.map((row) => {
    const lastRun = runs.get(row.id)
    return { ...store.toPipeline(row), ...(lastRun && { lastRun: toRun(lastRun) }) }
  })
}

/** @throws CruxError notFound `pipelineId` */
export async function findPipeline(queries: Queries, team: TeamContext, id: string): Promise<store.PipelineRow> {
  const row = await store.selectPipeline(queries, team.id, id)
  if (!row) throw new CruxError('notFound', { property: 'pipelineId', value: id })
  return row
}

export async function getPipeline(app: App, { team }: Caller, id: string): Promise<ResponseInput<'pipelines.get'>> {
  const { pool } = app.database
  const row = await findPipeline(pool, team, id)
  const [runs, watchers, people] = await Promise.all([
    selectLastRuns(pool, [id]),
    selectWatchers(pool, id),
    app.identity.people([row.createdBy, row.updatedBy]),
  ])
  const { trigger: name, ...face } = store.toPipeline(row)
  const lastRun = runs.get(id)
  return {
    ...face,
    ...(lastRun && { lastRun: toRun(lastRun) }),
    trigger: { name, inputs: row.inputs },
    url: toServicePage(app.config, store.toLocation(row)),
    audit: {
      createdAt: row.createdAt,
      createdBy: people.get(row.createdBy)?.name ?? 'Unknown user',
      updatedAt: row.updatedAt,
      updatedBy: people.get(row.updatedBy)?.name ?? 'Unknown user',
    },
    eventWatchers: watchers.map(toWatcher),
    hook: { state: row.hookState, problem: row.hookProblem, lastDeliveryAt: row.lastDeliveryAt },
  }
}

/**
 * Stores a pipeline only after its service has shown it to the given token.
 *
 * @throws CruxError missingParameter `token`; forbidden `token`; notFound `repository.project`, `trigger.name`, ...;
 *   preconditionFailed when the service cannot be asked; alreadyExists `name`
 */
export async function createPipeline(
  app: App,
  caller: Caller,
  write: PipelineWrite,
): Promise<ResponseInput<'pipelines.create'>> {
  const { team } = caller
  const { token } = write
  if (!token) throw missingToken('A pipeline needs a token of its service.')
  assertInputSize(write.trigger.inputs, 'trigger.inputs')
  const ids = await findAtService(app, toLocation(write), token)
  const location = { ...toLocation(write), ...ids }
  const pipelineId = await newId(app.database.pool)
  const hook = await createHook(app, { team, pipelineId, type: write.type }, openPipeline(app, location, token))
  try {
    await inTransaction(app.database, async (queries) => {
      const sealed = sealToken(app, pipelineId, token)
      const values = getValues(write, ids, caller)
      await store.insertPipeline(queries, team.id, { id: pipelineId, token: sealed, ...values })
      await store.upsertHook(queries, pipelineId, hook)
    })
  } catch (error) {
    await dropHook(app, hook.externalId && { id: hook.externalId, location, tokens: [token] })
    throw error
  }
  recordEvent(app, { teamId: team.id, pipelineId, type: write.type }, 'pipeline created')
  return getPipeline(app, caller, pipelineId)
}

/**
 * A pipeline that moves gets its new hook first, and loses the old one last, at its old place: a service that is down
 * leaves a hook behind rather than a pipeline without one.
 *
 * @returns why the old hook could not be deleted
 */
export async function updatePipeline(
  app: App,
  caller: Caller,
  id: string,
  write: PipelineWrite,
): Promise<OldHookResult> {
  const { team } = caller
  const { pool } = app.database
  assertInputSize(write.trigger.inputs, 'trigger.inputs')
  const before = await findPipeline(pool, team, id)
  const oldLocation = store.toLocation(before)
  const isMoved = !isSamePlace(before, write)
  if (before.type !== write.type && !write.token)
    throw missingToken('The stored token belongs to another service: enter one of this service.')
  const oldToken = await readToken(app, id, { isNeeded: !write.token })
  const token = write.token ?? oldToken ?? ''
  const isChanged = isMoved || Boolean(write.token) || (write.repository.branch || null) !== before.branch
  const ids: ExternalIds = isChanged ? await findAtService(app, toLocation(write), token) : oldLocation
  const location = { ...toLocation(write), ...ids }
  const needsHook = isMoved || Boolean(write.token) || before.hookId === null
  const hook = needsHook
    ? await createHook(app, { team, pipelineId: id, type: write.type }, openPipeline(app, location, token))
    : undefined
  // A pipeline that stays keeps the hook that it has: a token that may not create another one does not end it.
  const keepsHook = !isMoved && before.hookId !== null && hook?.externalId === null
  const newHook = hook?.externalId ? { id: hook.externalId, location, tokens: [token] } : undefined
  let ended: string[] = []
  try {
    ended = await inTransaction(app.database, async (queries) => {
      const updatedAt = await store.lockPipeline(queries, team.id, id)
      if (updatedAt?.getTime() !== before.updatedAt.getTime()) throw changedMeanwhile(updatedAt === undefined)
      await store.updatePipeline(queries, id, getValues(write, ids, caller), {
        token: write.token ? sealToken(app, id, write.token) : undefined,
        isMoved,
      })
      if (hook && !keepsHook) await store.upsertHook(queries, id, hook)
      return isMoved ? endRunsOfMoved(queries, id, movedReason) : []
    })
  } catch (error) {
    await dropHook(app, newHook)
    throw error
  }
  for (const runId of ended) publishRun(app, { teamId: team.id, pipelineId: id, runId })
  recordEvent(app, { teamId: team.id, pipelineId: id, isMoved }, 'pipeline updated')
  if (!hook || keepsHook || before.hookId === null) return undefined
  const tokens = [...new Set([oldToken, ...(before.type === write.type ? [token] : [])])].flatMap((one) => one || [])
  return deleteHook(app, { id: before.hookId, location: oldLocation, tokens })
}

/** @returns why its hook could not be deleted; the pipeline is deleted in any case */
export async function deletePipeline(app: App, { team }: Caller, id: string): Promise<OldHookResult> {
  const { pool } = app.database
  const row = await findPipeline(pool, team, id)
  const token = row.hookId === null ? undefined : await readToken(app, id, { isNeeded: false })
  if (!(await store.deletePipeline(pool, team.id, id)))
    throw new CruxError('notFound', { property: 'pipelineId', value: id })
  recordEvent(app, { teamId: team.id, pipelineId: id }, 'pipeline deleted')
  if (row.hookId === null) return undefined
  return deleteHook(app, { id: row.hookId, location: store.toLocation(row), tokens: token ? [token] : [] })
}

const movedReason =
  'The pipeline was changed to another place while this run was not finished: Crux asks for it no more.'

/** A branch is only where the next run starts. */
const isSamePlace = (row: store.PipelineRow, { type, repository, trigger }: PipelineWrite): boolean =>
  row.type === type &&
  row.organization === repository.organization &&
  row.project === repository.project &&
  row.triggerName === trigger.name

async function readToken(app: App, id: string, { isNeeded }: { isNeeded: boolean }): Promise<string | undefined> {
  try {
    return openToken(app, id, await store.selectToken(app.database.pool, id))
  } catch (error) {
    if (isNeeded) throw error
    return undefined
  }
}

async function findAtService(app: App, location: PipelineLocation, token: string): Promise<ExternalIds> {
  try {
    return await openPipeline(app, location, token).find()
  } catch (error) {
    throw toCallerError(error)
  }
}

/** Nobody waits for the result: what cannot be deleted is logged. */
async function dropHook(app: App, hook: OldHook | '' | null | undefined): Promise<void> {
  const left = hook && (await deleteHook(app, hook))
  if (left) app.log.warn({ hook: left.hook.description }, 'a hook of a pipeline that was not stored remains')
}

const toLocation = ({ type, repository, trigger }: PipelineWrite): PipelineLocation => ({
  type,
  organization: repository.organization,
  project: repository.project,
  branch: repository.branch || null,
  triggerName: trigger.name,
  externalProjectId: null,
  externalPipelineId: null,
})

const getValues = (write: PipelineWrite, ids: ExternalIds, { actor }: Caller): store.PipelineValues => ({
  ...toLocation(write),
  externalProjectId: ids.externalProjectId,
  externalPipelineId: ids.externalPipelineId,
  name: write.name,
  description: write.description || null,
  icon: write.icon ?? null,
  inputs: withIds(write.trigger.inputs),
  userId: actor.id,
})

const missingToken = (description: string) => new CruxError('missingParameter', { property: 'token', description })

const changedMeanwhile = (isDeleted: boolean) =>
  isDeleted
    ? new CruxError('notFound', { property: 'pipelineId' })
    : new CruxError('preconditionFailed', {
        property: 'pipelineId',
        description: 'Someone else changed this pipeline meanwhile: load it again.',
      })

import type { App } from '../context.ts'
import { PipelineServiceError } from './api/pipeline-api.ts'
import { blockChecks, type ClaimedRun, releaseRun, storeInputs } from './claim-store.ts'
import { openPipeline, readTokenAt } from './connection.ts'
import { publishRun } from './events.ts'
import { resolveInputs } from './placeholders.ts'
import { requestRun, toReason } from './request-run.ts'
import * as runStore from './run-store.ts'

const [firstPauseS, longestPauseS] = [10, 300]
/** A service that tells nothing of a run for this long is not asked any more. */
const silentSMax = 24 * 3_600
/** GitHub and GitLab end their runs earlier: https://docs.github.com/en/actions/reference/limits */
const ageSMax = 36 * 24 * 3_600
/** A new run may take a moment to appear in the lists of a service. */
const appearsS = 120
/** How long a run is searched whose number the service did not tell. */
const searchSMax = 600
/** A run that an event started is tried for this long while its service cannot be reached. */
const triesSMax = 3_600

/** Does what is due for a run: asks the service for it, or for its state. */
export async function workOnRun(app: App, run: ClaimedRun): Promise<void> {
  if (run.isNew) return startEventRun(app, run)
  return checkRun(app, run)
}

/** Starts a run of an event watcher. What placeholders need is read first; a registry that refuses it fails the run. */
async function startEventRun(app: App, run: ClaimedRun): Promise<void> {
  const { pool } = app.database
  const resolved = await resolveInputs(app, run)
  if ('problem' in resolved) {
    if (resolved.retryInS !== undefined && getAgeS(run) < triesSMax) await releaseRun(pool, run.id, resolved.retryInS)
    else await end(app, run, 'failed', resolved.problem)
    return
  }
  await storeInputs(pool, run.id, resolved.inputs)
  const keeps = (error: PipelineServiceError) =>
    (error.kind === 'unreachable' || error.kind === 'limited') && getAgeS(run) < triesSMax
  const { error } = await requestRun(app, { ...run, inputs: resolved.inputs }, keeps)
  if (!(error instanceof PipelineServiceError) || !keeps(error)) return
  await releaseRun(pool, run.id, error.retryAfterS ?? getPauseS(run))
}

async function checkRun(app: App, run: ClaimedRun): Promise<void> {
  const { pool } = app.database
  if (run.ageS > ageSMax)
    return end(app, run, 'unknown', 'The run has not ended for 36 days: Crux asks for it no more.')
  try {
    const api = openPipeline(app, run.location, await readTokenAt(app, run))
    if (run.externalId === undefined && !api.findsLostRuns) return end(app, run, 'unknown', interrupted)
    const report = await api.getRun(run)
    if (!report) return handleMissing(app, run)
    if (await runStore.storeReport(pool, run.id, report)) publish(app, run)
    await runStore.scheduleCheck(pool, run.id, getPauseS(run))
  } catch (error) {
    await handleFailure(app, run, error)
  }
}

async function handleMissing(app: App, run: ClaimedRun): Promise<void> {
  const patienceS = run.externalId === undefined ? searchSMax : appearsS
  if (run.ageS < patienceS) await runStore.scheduleCheck(app.database.pool, run.id, getPauseS(run))
  else await end(app, run, 'unknown', run.externalId === undefined ? notFoundByName : deletedThere)
}

/** While a service cannot be asked, its hook may still report the run. */
async function handleFailure(app: App, run: ClaimedRun, error: unknown): Promise<void> {
  const { pool } = app.database
  app.log.info({ err: error, runId: run.id, pipelineId: run.pipelineId }, 'the state of a run could not be read')
  if (run.silentS > silentSMax)
    return end(app, run, 'unknown', `The service has not reported the state of the run for a day. ${toReason(error)}`)
  const retryAfterS = error instanceof PipelineServiceError ? error.retryAfterS : undefined
  await runStore.scheduleCheck(pool, run.id, retryAfterS ?? getPauseS(run))
  if (retryAfterS !== undefined) await blockChecks(pool, run.pipelineId, retryAfterS)
}

/** 10 seconds after the start, then longer from check to check, up to 5 minutes. */
const getPauseS = ({ checks }: ClaimedRun): number => Math.min(longestPauseS, firstPauseS * 1.5 ** Math.min(checks, 20))

const getAgeS = ({ createdAt }: ClaimedRun): number => (Date.now() - createdAt.getTime()) / 1_000

async function end(app: App, run: ClaimedRun, status: 'failed' | 'unknown', reason: string): Promise<void> {
  if (await runStore.endRun(app.database.pool, run.id, { status, reason })) publish(app, run)
}

const publish = (app: App, { id, teamId, pipelineId }: ClaimedRun) => publishRun(app, { teamId, pipelineId, runId: id })

const interrupted =
  'Crux was interrupted while it asked for the run: the service may have started it. Look there before you trigger it again.'
const notFoundByName =
  'GitHub shows no run with the id of this one. The workflow has to show the input crux_run in its run-name.'
const deletedThere = 'The service does not know this run any more.'

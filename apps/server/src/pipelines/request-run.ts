import { CruxError } from '@crux/contract'
import type { App } from '../context.ts'
import { type PipelineLocation, PipelineServiceError, type RunInput, type StartedRun } from './api/pipeline-api.ts'
import { openPipeline, readTokenAt } from './connection.ts'
import { publishRun } from './events.ts'
import * as runStore from './run-store.ts'

/** Longer than a request for a run may take: after it, the server that made the request is taken for lost. */
export const leaseS = 60
/** The first time that the service is asked for the state of a run. */
export const firstCheckS = 10

export type RequestedRun = {
  id: string
  pipelineId: string
  teamId: string
  /** That of the pipeline when its location was read. */
  moves: number
  createdAt: Date
  inputs: readonly RunInput[]
  location: PipelineLocation
}

/**
 * Asks the service for a run, once. When it is not clear whether the service started it, the run is searched if the
 * service can be searched for it, and `unknown` otherwise. It is never started twice.
 *
 * @returns the error, if the service has certainly not started it; the run has failed then, unless `keeps` says that it
 *   is to be tried again
 */
export async function requestRun(
  app: App,
  run: RequestedRun,
  keeps: (error: PipelineServiceError) => boolean = () => false,
): Promise<{ error?: unknown }> {
  const { pool } = app.database
  const end = async (status: 'failed' | 'unknown', reason: string) => {
    if (await runStore.endRun(pool, run.id, { status, reason })) publish(app, run)
  }
  let findsLostRuns = false
  let started: StartedRun
  try {
    const api = openPipeline(app, run.location, await readTokenAt(app, run))
    findsLostRuns = api.findsLostRuns
    started = await api.start(run)
  } catch (error) {
    if (error instanceof PipelineServiceError && error.kind === 'unanswered') {
      app.log.info({ err: error, runId: run.id }, 'a service did not say whether it started a run')
      if (findsLostRuns) await runStore.scheduleCheck(pool, run.id, firstCheckS)
      else await end('unknown', `${error.message} It may have started the run: look there before you trigger it again.`)
      return {}
    }
    if (!(error instanceof PipelineServiceError && keeps(error))) await end('failed', toReason(error))
    return { error }
  }
  const hasNumber = await runStore.storeStarted(pool, run.id, { ...started, checkInS: firstCheckS })
  if (!hasNumber && !findsLostRuns) await end('unknown', started.externalId === undefined ? unnamed : takenNumber)
  else publish(app, run)
  return {}
}

const unnamed = 'The service did not say which run it started: look for it there.'
/** A service that was restored from a backup counts on from an earlier number. */
const takenNumber = 'The service gave the run the number of an earlier run: look for it there.'

/** Only errors that were made for users have a message for them. */
export const toReason = (error: unknown): string =>
  error instanceof PipelineServiceError || error instanceof CruxError
    ? error.message
    : 'Crux could not ask the service: the log of the server says why.'

const publish = (app: App, { id, teamId, pipelineId }: RequestedRun) =>
  publishRun(app, { teamId, pipelineId, runId: id })

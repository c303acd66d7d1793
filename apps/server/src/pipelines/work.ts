import { createClaimLoop, createRounds, inBackground } from '@crux/service-kit'
import type { App } from '../context.ts'
import { workOnRun } from './check-run.ts'
import { type ClaimedRun, claimRuns } from './claim-store.ts'
import { leaseS } from './request-run.ts'

const roundMs = 5_000
const runsMax = 20
/** A service that hangs must not delay the runs of other teams. */
const perTeamMax = 6

/**
 * Asks services for the runs that are due, and for their states. All of it is in the database, so that several servers
 * share the work.
 */
export function createPipelineWork(app: App) {
  const running = new Map<Promise<void>, ClaimedRun>()
  let unsubscribe: (() => void) | undefined
  /** Claims until nothing is due, or this server has enough to do. */
  const claims = createClaimLoop(claim)

  async function claim(): Promise<number> {
    const busy = [...running.values()]
    // A few at a time: within one claim, all could be of one pipeline.
    const max = Math.min(perTeamMax, runsMax - busy.length)
    if (max <= 0) return 0
    const pipelines = busy.map(({ pipelineId }) => pipelineId)
    const teams = busy
      .map(({ teamId }) => teamId)
      .filter((id, index, all) => all.indexOf(id) === index && all.filter((one) => one === id).length >= perTeamMax)
    const claimed = await claimRuns(app.database.pool, { max, leaseS, except: { pipelines, teams } })
    for (const run of claimed) start(run)
    return claimed.length
  }

  function start(run: ClaimedRun) {
    const work: Promise<void> = workOnRun(app, run)
      // The claim ends, and the run is due again then.
      .catch((err: unknown) => app.log.warn({ err, runId: run.id }, 'a run of a pipeline was not looked at'))
      .finally(() => {
        running.delete(work)
        inBackground('runs of pipelines', claims.run)
      })
    running.set(work, run)
  }

  const rounds = createRounds({
    intervalMs: roundMs,
    failed: (err) => app.log.warn({ err }, 'runs of pipelines were not looked at'),
    round: claims.run,
  })

  return {
    start() {
      unsubscribe = app.bus.on('pipeline.run', ({ due }) => {
        if (due) inBackground('runs of pipelines', claims.run)
      })
      rounds.start()
    },
    async stop() {
      unsubscribe?.()
      await claims.stop()
      await rounds.stop()
      await Promise.all(running.keys())
    },
  }
}

import type { App } from '../context.ts'
import { startNewer } from './start-newer.ts'
import type { Timers } from './timers.ts'

/** What failed unexpectedly, e.g. because the database was away, is tried again after this time. */
const retryMs = 10_000

/** Decisions about releases, for each deployment one after another. */
export function createDecisions(app: App, { runIn }: Timers) {
  const running = new Map<string, { again: boolean; done: Promise<void> }>()
  let stopped = false

  /** A decision that is requested during another one of the same deployment follows it. */
  function decide(deploymentId: string): void {
    if (stopped) return
    const current = running.get(deploymentId)
    if (current) {
      current.again = true
      return
    }
    const decision = { again: false, done: Promise.resolve() }
    running.set(deploymentId, decision)
    decision.done = startNewer(app, deploymentId)
      .catch((err: unknown) => {
        app.log.warn({ err, deploymentId }, 'a release by a tag was not decided, it is tried again')
        return retryMs
      })
      .then((waitMs) => {
        running.delete(deploymentId)
        if (decision.again) decide(deploymentId)
        else if (waitMs !== undefined) runIn(waitMs, () => decide(deploymentId))
      })
  }

  return {
    decide,
    async stop() {
      stopped = true
      await Promise.all([...running.values()].map(({ done }) => done))
    },
  }
}

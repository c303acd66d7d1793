import { refuseRouteClashes } from '../plan/routes.ts'
import { retryWhileUnavailable } from './retry-while-unavailable.ts'
import type { Run } from './run.ts'

/**
 * Checks the routes again when the new containers exist. Of two releases that plan at the same time, by this agent or by another one on the
 * engine, at least one then sees the container of the other.
 */
export async function verifyRoutes(run: Run): Promise<void> {
  const changing = run.plan.instances.flatMap(({ instanceId, mode }) => {
    const instance = run.resolved.get(instanceId)
    return instance && mode !== 'keep' && instance.routes.length > 0 ? [instance] : []
  })
  if (changing.length === 0) return
  const leaving = run.plan.cleanUp.flatMap((step) => (step.kind === 'previous.remove' ? [step.id] : []))
  const all = await retryWhileUnavailable(() => run.driver.engine.observeAll(), run.signal)
  refuseRouteClashes({ changing, staying: [] }, all, new Set(leaving), run.release)
}

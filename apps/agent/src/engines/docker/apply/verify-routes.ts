import { retryWhileUnavailable } from '../../retry-while-unavailable.ts'
import { refuseRouteClashes } from '../plan/routes.ts'
import type { StepContext } from './release-context.ts'

/**
 * Checks the routes again when the new containers exist. Of two releases that plan at the same time, by this agent or by another one on the
 * engine, at least one then sees the container of the other.
 */
export async function verifyRoutes(context: StepContext): Promise<void> {
  const changing = context.plan.instances.flatMap(({ instanceId, mode }) => {
    const instance = context.resolved.get(instanceId)
    return instance && mode !== 'keep' && instance.routes.length > 0 ? [instance] : []
  })
  if (changing.length === 0) return
  const leaving = context.plan.cleanUp.flatMap((step) => (step.kind === 'previous.remove' ? [step.id] : []))
  const all = await retryWhileUnavailable(() => context.node.driver.engine.observeAll(), context.signal)
  refuseRouteClashes({ changing, staying: [] }, all, new Set(leaving), context.release)
}

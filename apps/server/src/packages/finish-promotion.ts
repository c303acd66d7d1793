import type { App } from '../context.ts'
import type { TeamEvent } from '../team-events/index.ts'
import { updateEnd } from './promotion-store.ts'

/** Copies the end of a release to the promotion that started it, because the release is deleted with its deployment. */
export async function finishPromotion(app: Pick<App, 'database'>, event: TeamEvent): Promise<void> {
  if (event.type !== 'deployment-status') return
  const { successful, reason = null, at } = event
  await updateEnd(app.database.pool, event, { status: successful ? 'successful' : 'failed', reason, at })
}

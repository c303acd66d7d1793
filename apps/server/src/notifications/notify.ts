import type { App } from '../context.ts'
import type { TeamEvent } from '../team-events/index.ts'

/** Creates the deliveries of an event. */
export async function notify(_app: App, _event: TeamEvent): Promise<void> {}

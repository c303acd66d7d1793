import type { App } from '../context.ts'
import type { TeamEvent } from '../team-events/index.ts'

/** Starts the runs of the event watchers that an event of a registry concerns. */
export async function startWatchedRuns(_app: App, _event: TeamEvent): Promise<void> {}

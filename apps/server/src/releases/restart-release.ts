import type { App } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import { appendEvents, logEvent } from './event-store.ts'
import { type DeploymentUpdate, deploymentsChanged } from './events.ts'
import { resetJournal } from './journal-store.ts'
import { lockRelease, type ReleaseRow } from './store.ts'

/**
 * Prepares a release for an agent that has reported events of it and no longer knows it, e.g. after its directory was
 * lost: its new journal counts from 1 again. Events of the previous journal are kept without sequence, so that no event
 * of the new one is taken for a repetition.
 */
export async function restartRelease(app: App, release: ReleaseRow): Promise<void> {
  if (release.acknowledgedSequence === 0) return
  const updates = await inTransaction(app.database, async (queries): Promise<DeploymentUpdate[]> => {
    const now = await lockRelease(queries, release)
    if (now?.status !== 'in-progress' || now.acknowledgedSequence !== release.acknowledgedSequence) return []
    const { deploymentId, number, teamId } = release
    const { nodeName } = await resetJournal(queries, release)
    const position = await appendEvents(queries, deploymentId, number, [
      logEvent(
        `The agent of ${nodeName} does not know this release any more: it starts again from the beginning`,
        'warn',
      ),
    ])
    return [{ deploymentId, teamId, try: number, position }]
  })
  deploymentsChanged(app, updates)
}

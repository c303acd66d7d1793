import type { App } from '../context.ts'
import { releaseRetentionLock, tryRetentionLock } from './store.ts'

const dayMs = 86_400_000
/** A job that takes longer counts as failed; the rest is deleted the next night. */
const nightMs = 240_000

type Parts = Pick<App, 'database' | 'log'>
/** Deletes events until `end` at the latest. @returns how many */
type DeleteEvents = (app: Parts, before: Date, end: number) => Promise<number>
/** The kinds of events, each with the function of its domain that knows which of them a page still needs. */
export type EventKinds = { deployment: DeleteEvents; node: DeleteEvents }
type Deleted = Record<keyof EventKinds, number>

/** Deletes events of nodes and deployments that are older than the retention period, every night. */
export function scheduleEventRetention(app: App, kinds: EventKinds): void {
  app.jobs.schedule('event-retention', '37 3 * * *', async () => {
    const { eventRetentionDays: days } = app.config
    if (days > 0) await deleteEventsBefore(app, kinds, new Date(Date.now() - days * dayMs))
  })
}

/** Deletes old events. @returns undefined when another server process is doing it */
export async function deleteEventsBefore(
  app: Parts,
  kinds: EventKinds,
  before: Date,
  end = Date.now() + nightMs,
): Promise<Deleted | undefined> {
  const client = await app.database.pool.connect()
  let broken: Error | boolean | undefined
  try {
    if (!(await tryRetentionLock(client))) return undefined
    try {
      const deployment = await kinds.deployment(app, before, end)
      const deleted = { deployment, node: await kinds.node(app, before, end) }
      if (deleted.deployment + deleted.node > 0) app.log.info({ deleted, before }, 'old events were deleted')
      return deleted
    } finally {
      await releaseRetentionLock(client)
    }
  } catch (error) {
    // The lock belongs to the connection and is released with it.
    broken = error instanceof Error ? error : true
    throw error
  } finally {
    client.release(broken)
  }
}

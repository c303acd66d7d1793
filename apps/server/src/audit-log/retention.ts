import type { App } from '../context.ts'
import { deleteInBatches } from '../db/delete-in-batches.ts'
import { deleteOldest, selectTeamIds } from './store.ts'

const dayMs = 86_400_000
/** Small enough that transactions that write the log do not wait for a deletion. */
const entriesPerDelete = 5_000
/** A job that takes longer counts as failed; the rest is deleted the next night. */
const nightMs = 240_000

/** Deletes entries that are older than the retention period, every night. */
export function keepAuditLog(app: App): void {
  app.jobs.schedule('audit-log-retention', '17 3 * * *', async () => {
    const { auditRetentionDays: days } = app.config
    if (days > 0) await dropEntriesBefore(app, new Date(Date.now() - days * dayMs))
  })
}

export async function dropEntriesBefore(app: Pick<App, 'database' | 'log'>, before: Date): Promise<number> {
  const { pool } = app.database
  const end = Date.now() + nightMs
  let dropped = 0
  for (const teamId of await selectTeamIds(pool))
    dropped += await deleteInBatches(entriesPerDelete, end, () => deleteOldest(pool, teamId, before, entriesPerDelete))
  if (dropped > 0) app.log.info({ dropped, before }, 'old audit entries were dropped')
  return dropped
}

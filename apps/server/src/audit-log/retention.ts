import type { App } from '../context.ts'

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

/** Deletes team by team along the index of newest entries, so that the rest of the log is not read. */
export async function dropEntriesBefore(app: Pick<App, 'database' | 'log'>, before: Date): Promise<number> {
  const { pool } = app.database
  const end = Date.now() + nightMs
  const teams = await pool.query<{ id: string }>('select id from crux.team')
  let dropped = 0
  for (const team of teams.rows) {
    let rows = entriesPerDelete
    while (rows === entriesPerDelete && Date.now() < end) {
      const { rowCount } = await pool.query(
        `delete from crux.audit_log where id in (
           select id from crux.audit_log where team_id = $1 and created_at < $2 order by created_at, id limit $3)`,
        [team.id, before, entriesPerDelete],
      )
      rows = rowCount ?? 0
      dropped += rows
    }
  }
  if (dropped > 0) app.log.info({ dropped, before }, 'old audit entries were dropped')
  return dropped
}

import type { App } from './app/app.ts'

const everyMs = 10 * 60_000

/** Deletes data that is no longer needed: expired flows with their codes, errors, ended sessions, old log entries, counters. */
export function startHousekeeping(app: App): { stop(): Promise<void> } {
  let running: Promise<void> = Promise.resolve()

  async function clean() {
    const { pool } = app.database
    // Flows are kept one day after they expire, so that an expired page can still show that it expired.
    await pool.query(`delete from identity.flows where expires_at < now() - interval '1 day'`)
    await pool.query(`delete from identity.errors where created_at < now() - interval '1 day'`)
    await pool.query(`delete from identity.sessions where expires_at < now() - interval '30 days'`)
    await pool.query(`delete from identity.security_log where created_at < now() - interval '1 year'`)
    await pool.query(`delete from identity.signing_keys where created_at < now() - interval '120 days'`)
    await app.limiter.clean()
  }

  const timer = setInterval(() => {
    running = clean().catch((err) => app.log.warn({ err }, 'cannot clean up'))
  }, everyMs)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}

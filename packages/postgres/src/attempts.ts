import type { Pool } from 'pg'

export type Counted = {
  hits: number
  /** The time until the window ends and the count restarts. */
  waitSeconds: number
}

/** Counters of attempts in time windows, shared by all processes on one database. */
export interface Attempts {
  /** Counts an attempt before it is made, so that concurrent attempts cannot pass together. */
  count(key: string | Buffer, windowSeconds: number): Promise<Counted>
  /** The number of attempts in the current window. */
  read(key: string | Buffer): Promise<number>
  /** Undoes the count of an attempt that turned out to be harmless. */
  refund(key: string | Buffer): Promise<void>
  /** Deletes all attempts of a key. */
  reset(key: string | Buffer): Promise<void>
  /** Deletes counters of past windows. */
  clean(): Promise<void>
}

/**
 * @param table with columns `key` (primary key), `hits` and `resets_at`, in SQL syntax. Use keyed hashes as keys, so that the database contains no
 * names and addresses.
 */
export function createAttempts(pool: Pool, table: 'identity.rate_limits' | 'crux.rate_limit'): Attempts {
  const countSql = `
    insert into ${table} as l (key, hits, resets_at)
    values ($1, 1, now() + make_interval(secs => $2))
    on conflict (key) do update set
      hits = case when l.resets_at <= now() then 1 else l.hits + 1 end,
      resets_at = case when l.resets_at <= now() then excluded.resets_at else l.resets_at end
    returning hits, extract(epoch from resets_at - now())::float8 as wait`
  return {
    async count(key, windowSeconds) {
      const { rows } = await pool.query<{ hits: number; wait: number }>(countSql, [key, windowSeconds])
      const [row] = rows
      if (!row) throw new Error('a counter of attempts returned no row')
      return { hits: row.hits, waitSeconds: Math.max(1, Math.ceil(row.wait)) }
    },
    async read(key) {
      const { rows } = await pool.query<{ hits: number }>(
        `select hits from ${table} where key = $1 and resets_at > now()`,
        [key],
      )
      return rows[0]?.hits ?? 0
    },
    refund: async (key) =>
      void (await pool.query(`update ${table} set hits = greatest(hits - 1, 0) where key = $1`, [key])),
    reset: async (key) => void (await pool.query(`delete from ${table} where key = $1`, [key])),
    clean: async () => void (await pool.query(`delete from ${table} where resets_at < now()`)),
  }
}

import type { ResponseInput } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import { type RangeQuery, toEntries, toRange } from './actions.ts'
import { type AuditRow, selectAfter } from './store.ts'

type Entry = ResponseInput<'audit-log.list'>['items'][number]
export type Format = { head: string; line: (entry: Entry) => string }

const entriesPerRead = 1_000

/**
 * The whole range, oldest first. Each page is read after the last entry that was sent: memory stays bounded, no
 * transaction stays open, and a slow reader slows the reading down.
 */
export async function exportEntries(
  app: App,
  { team }: Caller,
  query: RangeQuery,
  format: Format,
): Promise<AsyncIterable<Uint8Array>> {
  const range = toRange(team, query)
  const read = (after?: AuditRow) => selectAfter(app.database.pool, range, after, entriesPerRead)
  // An error before the first byte is answered as a refusal; after it, the stream breaks off.
  const first = await read()
  async function* pages() {
    if (format.head) yield Buffer.from(format.head)
    let rows = first
    while (rows.length > 0) {
      const entries = await toEntries(app, rows)
      yield Buffer.from(entries.map(format.line).join(''))
      if (rows.length < entriesPerRead) return
      rows = await read(rows.at(-1))
    }
  }
  return pages()
}

export const ndjson: Format = { head: '', line: (entry) => `${JSON.stringify(entry)}\n` }

const columns = [
  'id',
  'createdAt',
  'actorType',
  'name',
  'userId',
  'email',
  'context',
  'method',
  'event',
  'accepted',
  'data',
]

export const csv: Format = {
  head: `${columns.join(',')}\r\n`,
  line: (entry) => {
    const { id, createdAt, actorType, name, user, context, method, event, accepted, data } = entry
    const json = data === null || data === undefined ? '' : JSON.stringify(data)
    const cells = [id, createdAt, actorType, name, user?.id, user?.email, context, method, event, accepted, json]
    return `${cells.map((cell) => csvCell(String(cell ?? ''))).join(',')}\r\n`
  },
}

/**
 * RFC 4180. A cell that a spreadsheet would take for a formula is prefixed with an apostrophe, because names and values
 * in this log are other people's text (OWASP, CSV injection).
 */
export function csvCell(text: string): string {
  const safe = /^[\s]*[=+\-@]|^[\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

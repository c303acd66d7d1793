import type { CustomTypesConfig, Pool, QueryResultRow } from 'pg'

/** A prepared statement that only reads. As with every prepared statement, a name belongs to one text and one set of types. */
export type Read = {
  name: string
  text: string
  /** Only what JSON can tell apart: they are part of the key by which reads are shared. */
  values: readonly (string | number)[]
  types?: CustomTypesConfig
}
export type SharedRead = <Row extends QueryResultRow>(read: Read) => Promise<readonly Readonly<Row>[]>

/** How long a caller waits for a query that was sent before its call, so that a connection that hangs delays others by no more than this. */
const waitMs = 100

/** `next` is not sent yet and still takes callers; `sent` takes none. */
type Queue = { next?: Promise<QueryResultRow[]> | undefined; sent?: Promise<unknown> }

/**
 * Callers that run the same statement with the same values at the same time share one query. It is sent after all of their calls,
 * so each caller sees everything that was committed before its call, by this server or another, as with a query of its own.
 * Nothing is kept once the query has ended.
 *
 * @returns rows that several callers hold: nobody may modify them
 */
export function createSharedReads(pool: Pick<Pool, 'query'>): SharedRead {
  const queues = new Map<string, Queue>()

  async function query({ values, ...read }: Read): Promise<QueryResultRow[]> {
    const { rows } = await pool.query<QueryResultRow>({ ...read, values: [...values] })
    return rows
  }

  async function sendNext(key: string, queue: Queue, read: Read): Promise<QueryResultRow[]> {
    await canSend(queue.sent)
    queue.next = undefined
    const rows = query(read)
    queue.sent = rows
    try {
      return await rows
    } finally {
      if (queue.sent === rows && !queue.next) queues.delete(key)
    }
  }

  function share(read: Read): Promise<QueryResultRow[]> {
    const key = JSON.stringify([read.name, read.values])
    const queue = queues.get(key) ?? {}
    queues.set(key, queue)
    queue.next ??= sendNext(key, queue, read)
    return queue.next
  }

  // The type of the rows is the caller's statement about the text, as it is with the pool.
  return share as SharedRead
}

/** Resolves once the query that was sent before has ended or is late, and once the requests that have already arrived were read. */
function canSend(sent: Promise<unknown> | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (!sent) {
      setImmediate(resolve)
      return
    }
    const late = setTimeout(resolve, waitMs)
    const end = () => {
      clearTimeout(late)
      setImmediate(resolve)
    }
    sent.then(end, end)
  })
}

import type { CustomTypesConfig, Pool, QueryResult, QueryResultRow } from 'pg'

/** A prepared statement that only reads. A name belongs to one text and one set of types, as for every prepared statement. */
export type Read = {
  name: string
  text: string
  /** Only values that JSON distinguishes, because they are part of the key by which reads are shared. */
  values: readonly (string | number)[]
  types?: CustomTypesConfig
}
export type SharedRead = <Row extends QueryResultRow>(read: Read) => Promise<readonly Readonly<Row>[]>

/** How long a caller waits for a query that was sent before its call. This limits the delay by a connection that hangs. */
const waitMs = 100

/** `next` is not sent yet and accepts more callers; `sent` accepts none. */
type Queue = { next?: Promise<QueryResult> | undefined; sent?: Promise<unknown> }

/**
 * Callers that run the same statement with the same values at the same time share one query. It is sent after all of their calls, so each caller sees
 * everything that any server committed before its call, as with a query of its own. Nothing is cached after the query has ended.
 *
 * @returns rows that several callers share, so they must not be modified
 */
export function createSharedReads(pool: Pick<Pool, 'query'>): SharedRead {
  const queues = new Map<string, Queue>()

  async function sendNext(key: string, queue: Queue, read: Read): Promise<QueryResult> {
    await canSend(queue.sent)
    queue.next = undefined
    const result = pool.query({ ...read, values: [...read.values] })
    queue.sent = result
    try {
      return await result
    } finally {
      if (queue.sent === result && !queue.next) queues.delete(key)
    }
  }

  return async (read) => {
    const key = JSON.stringify([read.name, read.values])
    const queue = queues.get(key) ?? {}
    queues.set(key, queue)
    queue.next ??= sendNext(key, queue, read)
    return (await queue.next).rows
  }
}

/** Resolves once the previously sent query has ended or is late, and once the requests that have already arrived were read. */
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

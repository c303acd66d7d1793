import type { LogChunkLine } from '../../engine.ts'

type Batches = AsyncIterable<LogChunkLine[]>

const batchLinesMax = 500

export const isAfter = (line: Moment, mark: Moment): boolean =>
  line.seconds > mark.seconds || (line.seconds === mark.seconds && line.nanos > mark.nanos)
export type Moment = Pick<LogChunkLine, 'seconds' | 'nanos'>

/** One log as lines, of which the next is known. */
class Cursor {
  readonly #batches: AsyncIterator<LogChunkLine[]>
  #lines: LogChunkLine[] = []
  #at = 0

  constructor(batches: Batches) {
    this.#batches = batches[Symbol.asyncIterator]()
  }

  get head(): LogChunkLine | undefined {
    return this.#lines[this.#at]
  }

  /** Moves on to the next line; `head` is undefined at the end. @returns what to wait for, where the line has not been read yet */
  advance(): Promise<void> | undefined {
    this.#at += 1
    return this.#at < this.#lines.length ? undefined : this.#read()
  }

  async #read(): Promise<void> {
    do {
      const { done, value } = await this.#batches.next()
      this.#at = 0
      this.#lines = done ? [] : value
      if (done) return
    } while (this.#lines.length === 0)
  }

  async close(): Promise<void> {
    await this.#batches.return?.()
  }
}

/** Merges logs that end, in the order of time. Reads each no faster than the caller reads the whole. */
export async function* mergeInOrder(sources: readonly Batches[]): AsyncGenerator<LogChunkLine[]> {
  const [only] = sources
  if (only && sources.length === 1) return yield* only
  const cursors = sources.map((source) => new Cursor(source))
  try {
    await Promise.all(cursors.map((cursor) => cursor.advance()))
    let batch: LogChunkLine[] = []
    for (;;) {
      const next = cursors.reduce<Cursor | undefined>(
        (first, cursor) => (isEarlier(cursor, first) ? cursor : first),
        undefined,
      )
      if (!next?.head) break
      batch.push(next.head)
      const reading = next.advance()
      if (reading) await reading
      if (batch.length >= batchLinesMax) {
        yield batch
        batch = []
      }
    }
    if (batch.length > 0) yield batch
  } finally {
    await Promise.allSettled(cursors.map((cursor) => cursor.close()))
  }
}

function isEarlier({ head }: Cursor, than: Cursor | undefined): boolean {
  return head !== undefined && (than?.head === undefined || isAfter(than.head, head))
}

import { withinTime } from '@crux/service-kit'

/** A proxy between agent and server ends an idle call after a while, often 60 s. */
const keepAliveMs = 15_000

/**
 * The messages of the source, and `keepAlive` whenever the source has been quiet for a while. The next message is requested when the last
 * one was taken, so flow control covers the source too.
 */
export async function* keepOpen<M, K>(
  source: AsyncIterable<M>,
  keepAlive: K,
  quietMs = keepAliveMs,
): AsyncGenerator<M | K> {
  const messages = source[Symbol.asyncIterator]()
  let next: Promise<IteratorResult<M>> | undefined
  try {
    for (;;) {
      next ??= messages.next()
      const result = await withinTime(next, quietMs, () => undefined)
      if (result === undefined) {
        yield keepAlive
        continue
      }
      next = undefined
      if (result.done) return
      yield result.value
    }
  } finally {
    // Not awaited: a source that waits for a message ends with the signal of its stream, which may come later.
    next?.catch(() => undefined)
    void messages.return?.().catch(() => undefined)
  }
}

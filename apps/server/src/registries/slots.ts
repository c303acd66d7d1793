import { CruxError } from '@crux/contract'

/** Work that waits for others: more of it is refused. */
const waitingMax = 500
/** Work that waited longer is not started, because nobody waits for its result any more. */
const waitMsMax = 10_000

/** Runs at most `max` requests of each registry at a time; others wait in their order. */
export function createSlots(max: number, now = Date.now) {
  const queues = new Map<string, { running: number; waiting: (() => void)[] }>()

  /** @throws CruxError tooManyRequests while too much waits already, or when it waited for too long */
  return async function run<T>(registryId: string, work: () => Promise<T>): Promise<T> {
    const queue = queues.get(registryId) ?? { running: 0, waiting: [] }
    queues.set(registryId, queue)
    if (queue.running < max) queue.running++
    else {
      if (queue.waiting.length >= waitingMax) throw slow()
      const since = now()
      // The slot of the work that ends is passed on.
      await new Promise<void>((resolve) => queue.waiting.push(resolve))
      if (now() - since > waitMsMax) {
        release(registryId, queue)
        throw slow()
      }
    }
    try {
      return await work()
    } finally {
      release(registryId, queue)
    }
  }

  function release(registryId: string, queue: { running: number; waiting: (() => void)[] }) {
    const next = queue.waiting.shift()
    if (next) return next()
    queue.running--
    if (queue.running === 0) queues.delete(registryId)
  }
}

const slow = () =>
  new CruxError('tooManyRequests', {
    property: 'registryId',
    description: 'The registry answers slowly, and too many of its tags are requested. Try again in a moment.',
    retryAfterS: 5,
  })

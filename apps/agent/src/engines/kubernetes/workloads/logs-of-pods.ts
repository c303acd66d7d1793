import { withinTime } from '@crux/service-kit'
import { EngineError } from '../../../errors.ts'
import type { LogChunkLine } from '../../engine.ts'
import type { PodRecord } from './records.ts'

type Lines = AsyncGenerator<LogChunkLine[]>
type OpenLog = (pod: PodRecord, signal: AbortSignal) => Lines

/** How long the other pods wait for the first lines of one whose machine may be gone. */
const firstLinesMs = 10_000

/**
 * The logs of pods that run beside each other. A pod's log comes from its machine: one machine that does not answer must not hide the logs of
 * the other pods, so a line says which log is missing and why.
 *
 * @throws the error of a pod's log when no pod's log can be read
 */
export function openLogsOfPods(
  pods: readonly PodRecord[],
  open: OpenLog,
  { signal, waitMs = firstLinesMs }: { signal?: AbortSignal | undefined; waitMs?: number },
): Lines[] {
  let failed = 0
  return pods.map(async function* (pod) {
    const ending = new AbortController()
    const log = open(pod, signal ? AbortSignal.any([signal, ending.signal]) : ending.signal)
    try {
      const first = log.next()
      const late = () => new EngineError('unavailable', `nothing has arrived within ${waitMs / 1_000} s`)
      const arrived = pods.length > 1 ? await withinTime(first, waitMs, late) : await first
      if (arrived instanceof EngineError) {
        first.catch(() => undefined)
        throw arrived
      }
      if (!arrived.done) yield arrived.value
      yield* log
    } catch (error) {
      failed += 1
      if (failed === pods.length || !(error instanceof EngineError)) throw error
      yield [toNotice(`The log of the pod ${pod.name} cannot be read: ${error.message}`)]
    } finally {
      ending.abort()
    }
  })
}

const toNotice = (text: string): LogChunkLine => {
  const now = Date.now()
  return { seconds: BigInt(Math.floor(now / 1_000)), nanos: (now % 1_000) * 1_000_000, stderr: true, text }
}

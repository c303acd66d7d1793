import { pause } from '../concurrency/pause.ts'
import { type EngineError, isEngineError } from '../errors.ts'
import type { ProgressReporter } from '../journal/progress-reporter.ts'

/** Where a wait is reported that takes long. */
export interface WaitReport {
  readonly progressReporter: Pick<ProgressReporter, 'info' | 'warn'>
  /** Absent: the wait concerns the release as a whole. */
  readonly instanceId?: string
}

/** A shorter interruption needs no line. */
const reportAfterMs = 5_000
/** A webhook whose pod is replaced answers again within seconds. One that is away for longer needs a person. */
const webhookMs = 20_000

/**
 * Repeats work that failed because the engine is unavailable, until the engine is back or the signal aborts. For an admission webhook that does
 * not answer it waits a short time only: the cluster itself works.
 *
 * @param report gets a line when the wait takes long, and one at its end
 */
export async function retryWhileUnavailable<T>(
  work: () => Promise<T>,
  signal: AbortSignal,
  report?: WaitReport,
  now: () => number = () => performance.now(),
): Promise<T> {
  const wait = report && new ReportedWait(report)
  const startedAt = now()
  let webhookFailedAt: number | undefined
  try {
    for (let waitMs = 100; ; waitMs = Math.min(2_000, waitMs * 2)) {
      try {
        return await work()
      } catch (error) {
        if (signal.aborted) throw error
        if (isEngineError(error, 'webhook-unavailable')) {
          webhookFailedAt ??= now()
          if (now() - webhookFailedAt >= webhookMs) {
            wait?.fail()
            throw error
          }
          wait?.start(error, `trying again for ${webhookMs / 1_000} s`)
        } else if (isEngineError(error, 'unavailable')) {
          if (now() - startedAt >= reportAfterMs) wait?.start(error, 'trying again until it does')
        } else throw error
        await pause(waitMs, signal)
      }
    }
  } finally {
    if (signal.aborted) wait?.fail()
    else wait?.succeed()
  }
}

type Reporter = WaitReport['progressReporter']

/** How many waits are reported at the moment, by instance: those of one instance wait for the same cluster and are reported once. */
const reported = new WeakMap<Reporter, Map<string, number>>()

class ReportedWait {
  readonly #reporter: Reporter
  readonly #instanceId: string
  #isReported = false

  constructor({ instanceId = '', progressReporter }: WaitReport) {
    this.#reporter = progressReporter
    this.#instanceId = instanceId
  }

  start({ message }: EngineError, plan: string): void {
    if (this.#isReported) return
    this.#isReported = true
    if (this.#add(1) === 1) this.#reporter.warn(this.#instanceId, `${message}: ${plan}`)
  }

  succeed(): void {
    if (this.#end()) this.#reporter.info(this.#instanceId, 'the cluster answers again')
  }

  /** The error is reported by the caller. */
  fail(): void {
    this.#end()
  }

  /** @returns whether it was the last wait of the instance */
  #end(): boolean {
    if (!this.#isReported) return false
    this.#isReported = false
    return this.#add(-1) === 0
  }

  #add(change: 1 | -1): number {
    const counts = reported.get(this.#reporter) ?? new Map<string, number>()
    reported.set(this.#reporter, counts)
    const count = (counts.get(this.#instanceId) ?? 0) + change
    counts.set(this.#instanceId, count)
    return count
  }
}

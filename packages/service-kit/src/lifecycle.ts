import type { Logger } from './logger.ts'
import { withinTime } from './within-time.ts'

export interface Lifecycle {
  /** Registers a stop step. Later registrations run first. */
  onStop(name: string, stop: () => Promise<unknown> | unknown): void
  /** Runs all stop steps once; further calls wait for the first one. Never rejects: a failing step is logged. */
  stop(): Promise<void>
  /** Stops at SIGTERM, SIGINT and SIGHUP, then exits 0. A second signal exits at once. */
  stopOnSignals(): void
}

/** @param options.stepTimeoutMs how long one step may take before the next begins */
export function createLifecycle(log: Logger, options: { stepTimeoutMs?: number } = {}): Lifecycle {
  const stepTimeoutMs = options.stepTimeoutMs ?? 10_000
  const steps: { name: string; stop: () => Promise<unknown> | unknown }[] = []
  let stopping: Promise<void> | undefined

  async function stopAll() {
    for (let step = steps.pop(); step; step = steps.pop()) {
      try {
        await withinTime(Promise.resolve().then(step.stop), stepTimeoutMs, () => {
          throw new Error(`took longer than ${stepTimeoutMs} ms`)
        })
      } catch (err) {
        log.error({ err, step: step.name }, 'a step of the shutdown failed')
      }
    }
  }

  function stop(): Promise<void> {
    stopping ??= stopAll()
    return stopping
  }

  return {
    onStop: (name, fn) => void steps.push({ name, stop: fn }),
    stop,
    stopOnSignals() {
      for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
        process.on(signal, () => {
          if (stopping) process.exit(130)
          log.info({ signal }, 'stopping')
          void stop().then(() => process.exit(0))
        })
      }
    },
  }
}

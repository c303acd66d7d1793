import { inBackground } from '@crux/service-kit'

/** Work of this process that is due later. What is due after more than `maxMs` is left to the rounds. */
export function createTimers({ maxMs }: { maxMs: number }) {
  const timers = new Set<NodeJS.Timeout>()
  let stopped = false
  return {
    runIn(waitMs: number, work: () => unknown): void {
      if (stopped || waitMs > maxMs) return
      const timer = setTimeout(() => {
        timers.delete(timer)
        inBackground('following a tag', work)
      }, waitMs)
      timers.add(timer)
    },
    stop() {
      stopped = true
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
export type Timers = ReturnType<typeof createTimers>

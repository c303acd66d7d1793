import { guarded } from '@crux/service-kit'
import { pause } from '../../../concurrency/pause.ts'
import { isEngineError, PlanError } from '../../../errors.ts'
import type { ExpectedState } from '../../expectation.ts'
import type { Driver, ObservedContainer } from '../containers/container-engine.ts'
import { type PendingProbe, startProbes } from './probes.ts'

export interface VerifyOrder {
  instanceId: string
  full: string
  id: string
  imageId: string
  expectation: ExpectedState
  /** The value of performance.now when the engine had started it: the clock of the machine may be changed in the meantime. */
  startedAt: number
  signal: AbortSignal
}

/** Listens for events of a container from before its start, so that a quick end is not missed. */
export interface Watched {
  /** Exit code of its first end, if it ended. */
  firstExit(): number | undefined
  changed(): Promise<void>
  close(): void
}

/** @param options.isFresh whether it has not been started yet: its state then needs no check before the first event */
export function watchOne(driver: Driver, id: string, options: { isFresh: boolean }): Watched {
  let firstExit: number | undefined
  let changes = 0
  let wake: () => void = () => undefined
  let listening = !options.isFresh
  const unsubscribe = driver.subscribe((event) => {
    // A start is our own, and the first event of every new listener indicates no missed events: neither justifies a request to a busy
    // engine.
    if (event.kind === 'container' ? event.id !== id || event.action === 'start' : !listening) return
    if (event.kind === 'container' && event.action === 'die') firstExit ??= Number(event.labels.exitCode ?? 0)
    changes += 1
    wake()
  })
  queueMicrotask(
    guarded('the first events of a container', () => {
      listening = true
    }),
  )
  let seen = 0
  return {
    firstExit: () => firstExit,
    changed: () =>
      new Promise((resolve) => {
        wake = () => {
          seen = changes
          resolve()
        }
        if (changes > seen) wake()
      }),
    close: unsubscribe,
  }
}

/**
 * Resolves when the container is in the state that its configuration expects: running through the observation window and healthy, or ended
 * with the expected code. A restart policy hides nothing: the first end counts.
 *
 * @throws PlanError with the cause
 */
export async function verify(driver: Driver, order: VerifyOrder, watched: Watched): Promise<void> {
  const { expectation } = order
  const observe = async () => {
    try {
      return await driver.engine.observe(order.id)
    } catch (error) {
      if (isEngineError(error, 'not-found'))
        throw new PlanError(order.instanceId, `${order.full} was removed while it was being checked`)
      if (isEngineError(error, 'unavailable')) return undefined
      throw error
    }
  }
  const probe = expectation.probes.length > 0 ? startProbes(expectation.probes) : undefined
  try {
    if (probe) await observe().then((seen) => seen && probe.aim(seen))
    for (;;) {
      const remaining = msUntilDecided(order)
      await until(Math.min(remaining, 1_000_000), [watched.changed(), ...(probe ? [probe.passed()] : [])], order.signal)
      const observed = await observe()
      if (!observed) {
        await until(250, [], order.signal)
        continue
      }
      probe?.aim(observed)
      const verdict = judge(order, observed, watched.firstExit(), probe?.pending())
      if (verdict === 'holds') return
    }
  } finally {
    probe?.close()
  }
}

/** Milliseconds until the passing of time alone can decide the result. */
function msUntilDecided({ startedAt, expectation }: VerifyOrder): number {
  const age = performance.now() - startedAt
  if (expectation.kind === 'running' && age < expectation.windowMs) return expectation.windowMs - age + 5
  return Math.max(5, expectation.timeoutMs - age + 5)
}

function judge(
  order: VerifyOrder,
  seen: ObservedContainer,
  firstExit: number | undefined,
  pending: PendingProbe | undefined,
): 'holds' | 'waits' {
  const { expectation, full, instanceId } = order
  const late = performance.now() - order.startedAt >= expectation.timeoutMs
  const refuse = (reason: string): never => {
    throw new PlanError(instanceId, reason)
  }
  if (seen.imageId !== order.imageId)
    return refuse(`${full} was created from another image than the one of this release: its tag was moved meanwhile`)
  switch (expectation.kind) {
    case 'exited': {
      const ended = seen.state === 'exited' || seen.state === 'dead'
      const code = firstExit ?? (ended ? seen.exitCode : undefined)
      if (code === undefined)
        return late ? refuse(`${full} did not end within ${seconds(expectation.timeoutMs)}`) : 'waits'
      return code === expectation.exitCode
        ? 'holds'
        : refuse(`${full} ended with exit code ${code}, expected was ${expectation.exitCode}`)
    }
    case 'waiting':
      if (seen.state === 'created' || seen.state === 'restarting' || seen.state === 'paused') return 'holds'
      return late ? refuse(`${full} did not reach the state waiting within ${seconds(expectation.timeoutMs)}`) : 'waits'
    case 'running': {
      if (firstExit !== undefined || seen.restartCount > 0 || seen.state !== 'running') {
        if (seen.state === 'created')
          return late ? refuse(`${full} did not start within ${seconds(expectation.timeoutMs)}`) : 'waits'
        return refuse(`${full} stopped right after its start: ${describeExit(seen, firstExit)}`)
      }
      if (seen.health === 'unhealthy')
        return refuse(`${full} is unhealthy${seen.healthOutput ? `: ${seen.healthOutput}` : ''}`)
      const isObserved = performance.now() - order.startedAt >= expectation.windowMs
      const healthy = seen.health !== 'starting' && pending === undefined
      if (isObserved && healthy) return 'holds'
      if (late && !healthy) {
        const what = pending ? `did not answer ${pending.path} on port ${pending.port}` : 'did not become healthy'
        const detail = pending?.lastFailure ? ` (${pending.lastFailure})` : ''
        return refuse(`${full} ${what} within ${seconds(expectation.timeoutMs)}${detail}`)
      }
      return 'waits'
    }
  }
}

function describeExit(seen: ObservedContainer, firstExit: number | undefined): string {
  return `${seen.outOfMemory ? 'out of memory, ' : ''}exit code ${firstExit ?? seen.exitCode}`
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`
}

/** Resolves when the time has passed or one of the others settles. */
async function until(ms: number, others: Promise<void>[], signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const over = new AbortController()
  try {
    await Promise.race([pause(ms, AbortSignal.any([signal, over.signal])), ...others])
  } finally {
    over.abort()
  }
}

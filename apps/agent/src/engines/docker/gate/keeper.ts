import { setImmediate as nextTurn } from 'node:timers/promises'
import { guarded, inBackground, type Logger } from '@crux/service-kit'
import { isEngineError } from '../../../errors/engine-error.ts'
import { messageOf } from '../../../errors/message-of.ts'
import type { NodeScope } from '../../../scope/node-scope.ts'
import { label } from '../../labels.ts'
import type { Driver } from '../containers/driver.ts'
import type { Gate } from './gate.ts'
import { reconcile } from './reconcile.ts'

/** Keeps the gate in step with the containers outside of releases: ends, starts, new addresses, removals, the gate's own end. */
export interface GateKeeper {
  /** Reconciles everything; resolves when the gate holds what it must. */
  sync(): Promise<void>
  /** A release under the prefix has ended: earlier observations of it are outdated. */
  released(prefix: string): void
  close(): void
}

/** A container that restarts is back within this time; until then its clients wait. */
const endedMs = 2_000
/** When an unused gate is checked again, while it has connections left. */
const idleMs = 30_000
const retryMs = 1_000

export function createGateKeeper(options: {
  driver: Driver
  gate: Gate
  scope: Pick<NodeScope, 'covers'>
  isBusy: (prefix: string) => boolean
  log: Logger
}): GateKeeper {
  const { driver, gate, scope, isBusy, log } = options
  let closed = false
  let running: Promise<void> = Promise.resolve()
  let waiting: Promise<void> | undefined
  let closeEnded = true
  const timers = new Set<NodeJS.Timeout>()
  const reported = new Map<number, string>()
  const releases = new Map<string, number>()

  function later(ms: number): void {
    if (closed) return
    const timer = setTimeout(
      guarded('keeping the gate in step', () => {
        timers.delete(timer)
        closeEnded = true
        return sync()
      }),
      ms,
    )
    timer.unref()
    timers.add(timer)
  }

  /** Calls that come while one waits for its turn share that turn. */
  function sync(): Promise<void> {
    waiting ??= running.then(() => {
      waiting = undefined
      running = look().catch((error) => {
        if (closed) return
        if (!isEngineError(error, 'away'))
          log.warn({ reason: messageOf(error) }, 'the gate is not in step, trying again')
        later(retryMs)
      })
      return running
    })
    return waiting
  }

  async function look(): Promise<void> {
    if (closed) return
    const final = closeEnded
    closeEnded = false
    const before = new Map(releases)
    const listed = (await driver.engine.observeAll()).filter(
      ({ gated, labels }) => gated.length > 0 && scope.covers(labels),
    )
    const containers = (await Promise.all(listed.map(({ id }) => driver.engine.observe(id).catch(missing)))).flatMap(
      (seen) => (seen ? [seen] : []),
    )
    const hello = await gate.look()
    // A release that ended during this sync has changed the ports since, and its end itself schedules a turn.
    await nextTurn()
    const isMoving = (prefix: string) => isBusy(prefix) || releases.get(prefix) !== before.get(prefix)
    const { open, close } = reconcile({
      containers,
      held: hello?.ports ?? [],
      scope,
      isBusy: isMoving,
      closeEnded: final,
    })
    if (close.length > 0) await gate.apply([], close)
    for (const port of open) {
      if (isMoving(port.prefix)) continue
      try {
        await gate.apply([port], [])
        reported.delete(port.port)
      } catch (error) {
        // Another process took the port while its container was stopped.
        const reason = messageOf(error)
        if (reported.get(port.port) !== reason) log.warn({ port: port.port, reason }, 'the gate cannot hold a port')
        reported.set(port.port, reason)
        later(retryMs * 10)
      }
    }
    if (!hello || listed.length > 0) return
    const now = await gate.look()
    if (!now || now.ports.length > 0) return
    if (now.connections > 0) later(idleMs)
    else {
      await gate.end()
      log.info('nothing is left for the gate to hold: it ended')
    }
  }

  const unsubscribe = driver.subscribe((event) => {
    if (event.kind === 'container') {
      // Another agent on this engine manages its own containers.
      if (event.labels[label.gate] === undefined || !scope.covers(event.labels)) return
      if (event.action === 'die' || event.action === 'destroy') later(endedMs)
    } else closeEnded = true
    inBackground('keeping the gate in step', sync)
  })

  return {
    sync() {
      closeEnded = true
      return sync()
    },
    released(prefix) {
      releases.set(prefix, (releases.get(prefix) ?? 0) + 1)
      closeEnded = true
      inBackground('keeping the gate in step', sync)
    },
    close() {
      closed = true
      unsubscribe()
      for (const timer of timers) clearTimeout(timer)
    },
  }
}

function missing(error: unknown): undefined {
  if (!isEngineError(error, 'not-found')) throw error
}

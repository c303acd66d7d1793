import { setImmediate as nextTurn } from 'node:timers/promises'
import { inBackground, type Logger } from '@crux/service-kit'
import { guardedTimer } from '../../../concurrency/pause.ts'
import { sharedTurn } from '../../../concurrency/shared-turn.ts'
import { getMessage, isEngineError, undefinedIfMissing } from '../../../errors.ts'
import type { NodeScope } from '../../../scope/node-scope.ts'
import { label } from '../../labels.ts'
import type { Driver } from '../containers/container-engine.ts'
import type { Gate } from './gate.ts'
import { reconcile } from './reconcile.ts'
import type { GatePort } from './relay/protocol.ts'

/** A container that restarts is back within this time; until then its clients wait. */
const endedMs = 2_000
/** When an unused gate is checked again, while it has connections left. */
const idleMs = 30_000
const retryMs = 1_000

interface KeeperOptions {
  driver: Driver
  gate: Gate
  scope: Pick<NodeScope, 'covers'>
  isBusy: (prefix: string) => boolean
  log: Logger
}

/** Keeps the gate in step with the containers outside of releases: ends, starts, new addresses, removals, the gate's own end. */
export class GateKeeper {
  readonly #options: KeeperOptions
  readonly #timers = new Set<NodeJS.Timeout>()
  /** By port: the last reason that was logged. */
  readonly #reported = new Map<number, string>()
  /** By prefix: how many releases have ended. */
  readonly #releases = new Map<string, number>()
  readonly #unsubscribe: () => void
  readonly #turn = sharedTurn(() => this.#runTurn())
  #closed = false
  #closeEnded = true

  constructor(options: KeeperOptions) {
    this.#options = options
    const { driver, scope } = options
    this.#unsubscribe = driver.subscribe((event) => {
      if (event.kind === 'container') {
        // Another agent on this engine manages its own containers.
        if (event.labels[label.gate] === undefined || !scope.covers(event.labels)) return
        if (event.action === 'die' || event.action === 'destroy') this.#later(endedMs)
      } else this.#closeEnded = true
      inBackground('keeping the gate in step', this.#turn)
    })
  }

  /** Reconciles everything; resolves when the gate holds what it must. */
  sync() {
    this.#closeEnded = true
    return this.#turn()
  }

  /** A release under the prefix has ended: earlier observations of it are outdated. */
  released(prefix: string) {
    this.#releases.set(prefix, (this.#releases.get(prefix) ?? 0) + 1)
    inBackground('keeping the gate in step', () => this.sync())
  }

  close() {
    this.#closed = true
    this.#unsubscribe()
    for (const timer of this.#timers) clearTimeout(timer)
  }

  #later(ms: number): void {
    if (this.#closed) return
    const timer = guardedTimer('keeping the gate in step', ms, () => {
      this.#timers.delete(timer)
      return this.sync()
    })
    timer.unref()
    this.#timers.add(timer)
  }

  async #runTurn(): Promise<void> {
    try {
      if (!this.#closed) await this.#reconcile()
    } catch (error) {
      if (this.#closed) return
      if (!isEngineError(error, 'unavailable'))
        this.#options.log.warn({ reason: getMessage(error) }, 'the gate is not in step, trying again')
      this.#later(retryMs)
    }
  }

  async #reconcile(): Promise<void> {
    const { driver, gate, isBusy, scope } = this.#options
    const closeEnded = this.#closeEnded
    this.#closeEnded = false
    const before = new Map(this.#releases)
    const listed = (await driver.engine.observeAll()).filter(
      ({ gated, labels }) => gated.length > 0 && scope.covers(labels),
    )
    const containers = (
      await Promise.all(listed.map(({ id }) => driver.engine.observe(id).catch(undefinedIfMissing)))
    ).flatMap((seen) => (seen ? [seen] : []))
    const hello = await gate.readState()
    // A release that ended during this sync has changed the ports since, and its end itself schedules a turn.
    await nextTurn()
    const isMoving = (prefix: string) => isBusy(prefix) || this.#releases.get(prefix) !== before.get(prefix)
    const { open, close } = reconcile({ containers, held: hello?.ports ?? [], scope, isBusy: isMoving, closeEnded })
    if (close.length > 0) await gate.apply([], close)
    for (const port of open) if (!isMoving(port.prefix)) await this.#hold(port)
    if (hello && listed.length === 0) await this.#endUnused()
  }

  async #hold(port: GatePort): Promise<void> {
    try {
      await this.#options.gate.apply([port], [])
      this.#reported.delete(port.port)
    } catch (error) {
      // Another process took the port while its container was stopped.
      const reason = getMessage(error)
      if (this.#reported.get(port.port) !== reason)
        this.#options.log.warn({ port: port.port, reason }, 'the gate cannot hold a port')
      this.#reported.set(port.port, reason)
      this.#later(retryMs * 10)
    }
  }

  async #endUnused(): Promise<void> {
    const { gate, log } = this.#options
    const now = await gate.readState()
    if (!now || now.ports.length > 0) return
    if (now.connections > 0) return this.#later(idleMs)
    await gate.end()
    log.info('the gate has no port left to hold: it ended')
  }
}

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { inBackground, type Logger } from '@crux/service-kit'
import { z } from 'zod'
import { pause } from '../../../concurrency/pause.ts'
import { getMessage, isEngineError } from '../../../errors.ts'
import type { LeaderElection, Leadership } from '../../../state/leader-election.ts'
import type { StateObjects } from '../client/state-objects.ts'
import type { ClusterObject } from '../cluster/cluster.ts'

const leaseName = 'crux-agent'
const attemptsMax = 3

/** Times in milliseconds. */
export interface LeaseTimes {
  renewEvery: number
  /** A holder that could not renew for this long stops. What it has begun may take until `expiresAfter` to end. */
  stopAfter: number
  /** A lease that did not change for this long is taken over. */
  expiresAfter: number
  /** How often a waiting process reads the lease. */
  readEvery: number
  /** For one request: a slow one must leave time for another. */
  answer: number
}

const leaseTimes: LeaseTimes = {
  renewEvery: 5_000,
  stopAfter: 10_000,
  expiresAfter: 15_000,
  readEvery: 1_000,
  answer: 3_000,
}

const Spec = z.object({ holderIdentity: z.string().nullish(), leaseTransitions: z.number().nullish() }).prefault({})

/**
 * Elects by a Lease of the agent's own namespace, as controllers of Kubernetes do. No times of different machines are compared: a waiting
 * process measures how long it has seen the same version of the lease.
 */
export function openLeaseElection(objects: StateObjects, log: Logger, times: LeaseTimes = leaseTimes): LeaderElection {
  const identity = `${hostname()}-${randomUUID()}`
  return {
    async acquire(signal) {
      let seen = { version: '', since: 0 }
      let lastReason = ''
      while (!signal.aborted) {
        try {
          const found = await objects.get('Lease', leaseName, times.answer)
          const { holderIdentity } = toSpec(found)
          const now = performance.now()
          if (found && found.resourceVersion !== seen.version) seen = { version: found.resourceVersion, since: now }
          // An earlier turn of this process has ended, or it would not ask.
          const isFree = !holderIdentity || holderIdentity === identity
          if (isFree || now - seen.since >= times.expiresAfter) {
            const began = elapsed()
            const held = await take(found)
            if (held) return new HeldLease({ objects, log, times, identity, held, began })
          } else explain(`another agent of this node works: ${holderIdentity}`)
        } catch (error) {
          if (!isEngineError(error, 'unavailable') && !isEngineError(error, 'webhook-unavailable')) throw error
          explain(getMessage(error))
        }
        await pause(times.readEvery, signal).catch(() => undefined)
      }
      return undefined

      function explain(reason: string): void {
        if (reason !== lastReason) log.info({ reason }, 'waiting for the lease')
        lastReason = reason
      }
    },
  }

  /** Undefined when another process was faster. */
  async function take(found: ClusterObject | undefined): Promise<ClusterObject | undefined> {
    const now = toMicroTime()
    const spec = {
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(times.expiresAfter / 1_000),
      acquireTime: now,
      renewTime: now,
      leaseTransitions: (toSpec(found).leaseTransitions ?? 0) + (found ? 1 : 0),
    }
    try {
      return found
        ? await objects.change(found, { spec }, times.answer)
        : await objects.create(
            { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: leaseName }, spec },
            times.answer,
          )
    } catch (error) {
      if (isEngineError(error, 'conflict') || isEngineError(error, 'not-found')) return undefined
      throw error
    }
  }
}

interface Held {
  objects: StateObjects
  log: Logger
  times: LeaseTimes
  identity: string
  held: ClusterObject
  began: Elapsed
}

class HeldLease implements Leadership {
  readonly #options: Held
  readonly #lost = new AbortController()
  readonly #released = new AbortController()
  #version: ClusterObject
  /** When the request of the last renewal began. */
  #renewed: Elapsed
  #renewing: Promise<void> = Promise.resolve()

  constructor(options: Held) {
    this.#options = options
    this.#version = options.held
    this.#renewed = options.began
    inBackground('renewing the lease', () => this.#run())
    inBackground('the end of the lease', () => this.#watch())
  }

  get lost(): AbortSignal {
    return this.#lost.signal
  }

  isHeld(): boolean {
    if (since(this.#renewed) >= this.#options.times.stopAfter) this.#lose()
    return !this.lost.aborted
  }

  async release(): Promise<void> {
    this.#released.abort()
    await this.#renewing
    if (this.lost.aborted) return
    this.#lose()
    const { log, objects, times } = this.#options
    try {
      await objects.change(this.#version, { spec: { holderIdentity: '' } }, times.answer)
    } catch (error) {
      log.info({ reason: getMessage(error) }, 'the lease was not released: it expires')
    }
  }

  get #ended(): AbortSignal {
    return AbortSignal.any([this.lost, this.#released.signal])
  }

  async #run(): Promise<void> {
    const { log, times } = this.#options
    const ended = this.#ended
    let waitMs = times.renewEvery
    for (;;) {
      await pause(waitMs, ended).catch(() => undefined)
      if (ended.aborted) return
      const began = elapsed()
      const renewing = this.#renew().then(
        () => {
          this.#renewed = began
          waitMs = times.renewEvery
        },
        (error: unknown) => {
          waitMs = times.readEvery
          log.warn({ reason: getMessage(error) }, 'the lease could not be renewed, trying again')
          if (isEngineError(error, 'not-found')) this.#lose()
        },
      )
      this.#renewing = renewing
      await renewing
    }
  }

  async #renew(): Promise<void> {
    const { identity, objects, times } = this.#options
    for (let attempt = 1; ; attempt += 1) {
      try {
        this.#version = await objects.change(this.#version, { spec: { renewTime: toMicroTime() } }, times.answer)
        return
      } catch (error) {
        if (!isEngineError(error, 'conflict') || attempt >= attemptsMax) throw error
        const found = await objects.get('Lease', leaseName, times.answer)
        if (!found || toSpec(found).holderIdentity !== identity) return this.#lose()
        // A renewal whose answer was lost, or another program that changed labels.
        this.#version = found
      }
    }
  }

  /** Apart from the renewals: one that hangs must not delay the end. */
  async #watch(): Promise<void> {
    const ended = this.#ended
    while (!ended.aborted && this.isHeld()) {
      const rest = this.#options.times.stopAfter - since(this.#renewed)
      await pause(Math.min(rest, 1_000), ended).catch(() => undefined)
    }
  }

  #lose(): void {
    if (this.lost.aborted) return
    if (!this.#released.signal.aborted)
      this.#options.log.warn('this agent has lost the lease: it stops, and waits for its turn')
    this.#lost.abort()
  }
}

const toSpec = (found: ClusterObject | undefined) => Spec.parse(found?.fields.spec)

/** The format of the API: microseconds. */
const toMicroTime = (): string => new Date().toISOString().replace('Z', '000Z')

/** A moment on both clocks of this machine: one stops while a machine is suspended, the other one may be set. */
interface Elapsed {
  monotonic: number
  wall: number
}
const elapsed = (): Elapsed => ({ monotonic: performance.now(), wall: Date.now() })
/** The longer of both times: a holder that stops too early does no harm. */
const since = ({ monotonic, wall }: Elapsed): number => Math.max(performance.now() - monotonic, Date.now() - wall)

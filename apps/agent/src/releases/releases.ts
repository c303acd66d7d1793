import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { JournalPosition, Release, ReleaseKey } from '@crux/agent-protocol'
import { type Logger, withErrorScope } from '@crux/service-kit'
import { KeyedLock } from '../concurrency/keyed-lock.ts'
import { orAborted } from '../concurrency/pause.ts'
import { Slots } from '../concurrency/slots.ts'
import type { Engine } from '../engines/engine.ts'
import { AbortedError, getMessage, PlanError } from '../errors.ts'
import { countCrash, leavePosition } from '../journal/crash-loop.ts'
import type { Journal, JournalStore } from '../journal/journal.ts'
import { createProgressReporter } from '../journal/progress-reporter.ts'
import type { AgentClient } from '../link/client.ts'
import { createLinkClock } from './link-clock.ts'
import { createReporter, type Reporter } from './reporter.ts'

interface ReleasesOptions {
  engine: Pick<Engine, 'applyRelease' | 'previousContainersRun' | 'releaseEnded'>
  journals: JournalStore
  client: AgentClient
  log: Logger
}

interface OpenRelease {
  journal: Journal
  controller: AbortController
}

const atOnce = 4
const rememberedKeys = 1_000
const stopMs = 8_000

/** All deployments of this node: one at a time per prefix, a few prefixes in parallel, and the releases that earlier processes left. */
export class Releases {
  readonly #options: ReleasesOptions
  readonly #log: Logger
  readonly #reporter: Reporter
  readonly #clock = createLinkClock()
  readonly #ending = new AbortController()
  readonly #open = new Map<string, OpenRelease>()
  readonly #finished = new Set<string>()
  readonly #accepting = new Map<string, Promise<void>>()
  readonly #running = new Set<Promise<void>>()
  readonly #order = new KeyedLock()
  readonly #prefixes = new KeyedLock()
  /** By prefix: the end of a successful release that removes what it replaced. */
  readonly #cleanUps = new Map<string, Promise<void>>()
  readonly #slots = new Slots(atOnce)
  /** Releases that crashed a process run one after another: the next crash then shows which of them causes it. */
  readonly #suspects = new Slots(1)

  constructor(options: ReleasesOptions) {
    this.#options = options
    this.#log = options.log
    this.#reporter = createReporter({ ...options, onDone: (journal) => this.#forget(journal) })
    setMaxListeners(0, this.#ending.signal)
  }

  /** Continues the releases that an earlier process started. */
  async resume() {
    const log = this.#log
    const { journals: found, unreadable } = await this.#options.journals.load()
    for (const name of unreadable) log.error({ journal: name }, 'a journal cannot be read and is set aside')
    // A release that has taken over runs before a release that waits for its clean-up.
    const inOrder = found.sort((a, b) => Number(b.state.committed ?? false) - Number(a.state.committed ?? false))
    for (const journal of inOrder) {
      const isSuspect = await countCrash(journal).catch((error) => {
        log.warn({ reason: getMessage(error) }, 'a crash is counted in memory only')
        return true
      })
      this.#start(journal, isSuspect)
    }
  }

  async accept(release: Release) {
    const { key } = release
    if (!key) return void this.#log.warn('the server sent a release without a key: it is ignored')
    const id = getId(key)
    if (this.#open.has(id) || this.#accepting.has(id) || this.#finished.has(id) || this.#ending.signal.aborted) {
      this.#log.info(about(key), 'the release is known already')
      return
    }
    // The release is registered before its journal exists, so that a repeated command or a cancellation at the same moment finds it.
    // Journals are created one after another, so that releases of a prefix run in the order in which they arrived.
    const creating = this.#order.run('', async () => this.#start(await this.#options.journals.create(release)))
    this.#accepting.set(id, creating)
    try {
      await creating
    } catch (error) {
      await this.#failUnwritten(release, getMessage(error))
    } finally {
      this.#accepting.delete(id)
    }
  }

  async cancel(key: ReleaseKey) {
    await this.#accepting.get(getId(key))?.catch(() => undefined)
    this.#open.get(getId(key))?.controller.abort(new AbortedError('cancelled'))
  }

  /** Whether a deployment under the prefix is in progress or waits. */
  readonly isBusy = (prefix: string): boolean =>
    this.#accepting.size > 0 ||
    [...this.#open.values()].some(({ journal }) => !journal.finished && getPrefix(journal) === prefix)

  /** The releases whose end the server has not acknowledged. */
  openKeys() {
    return [...this.#open.values()].map(({ journal }) => journal.key)
  }

  /** @param openReleases the keys that were named when the link was opened */
  async linkUp(positions: JournalPosition[], openReleases: ReleaseKey[]) {
    const wanted = new Map(positions.map((position) => [position.release ? getId(position.release) : '', position]))
    for (const key of openReleases) {
      const entry = this.#open.get(getId(key))
      if (!entry) continue
      const position = wanted.get(getId(key))
      if (position) entry.journal.acknowledged = Number(position.acknowledgedSequence)
      if (!position && entry.journal.finished) await this.#forget(entry.journal)
      else if ((!position || position.abandoned) && !entry.journal.finished)
        entry.controller.abort(new AbortedError('abandoned'))
    }
    this.#clock.up()
    this.#reporter.linkUp()
  }

  linkDown() {
    this.#clock.down()
    this.#reporter.linkDown()
  }

  /** Leaves everything as it is, so that the next process resumes it. */
  async stop(withinMs = stopMs) {
    this.#ending.abort(new AbortedError('shutdown'))
    for (const { controller } of this.#open.values()) controller.abort(new AbortedError('shutdown'))
    // An engine that does not answer must not keep the process from ending; the journal has everything that a restart needs.
    await Promise.race([this.#closeJournals(), delay(withinMs, undefined, { ref: false })])
  }

  async #closeJournals(): Promise<void> {
    await Promise.allSettled(this.#accepting.values())
    await Promise.allSettled(this.#running)
    await Promise.allSettled([...this.#open.values()].map(({ journal }) => journal.close()))
  }

  async #forget(journal: Journal): Promise<void> {
    const id = getId(journal.key)
    this.#open.delete(id)
    this.#finished.add(id)
    const [oldest] = this.#finished
    if (this.#finished.size > rememberedKeys && oldest !== undefined) this.#finished.delete(oldest)
    await journal.drop()
  }

  #start(journal: Journal, isSuspect = false): void {
    const release = { journal, controller: new AbortController() }
    this.#open.set(getId(journal.key), release)
    this.#reporter.follow(journal)
    if (journal.finished) return
    const { signal } = release.controller
    const work = this.#prefixes
      .run(getPrefix(journal), async (leavePrefix) => {
        await this.#afterCleanUp(journal, signal)
        const inSlot = () => this.#slots.run((leaveSlot) => this.#runInTurn(release, leavePrefix, leaveSlot), signal)
        await (isSuspect ? this.#suspects.run(inSlot, signal) : inSlot())
      })
      .finally(() => this.#running.delete(work))
    this.#running.add(work)
  }

  /** A release that has taken over leaves its turn: the next one of its prefix waits for the clean-up, all others start. */
  async #runInTurn(release: OpenRelease, leavePrefix: () => void, leaveSlot: () => void): Promise<void> {
    const prefix = getPrefix(release.journal)
    const { promise: cleanedUp, resolve: endCleanUp } = Promise.withResolvers<void>()
    try {
      await this.#apply(release, () => {
        this.#cleanUps.set(prefix, cleanedUp)
        leaveSlot()
        leavePrefix()
      })
    } finally {
      endCleanUp()
      if (this.#cleanUps.get(prefix) === cleanedUp) this.#cleanUps.delete(prefix)
    }
  }

  /** A cancelled release no longer waits: it starts so that it can end. */
  async #afterCleanUp(journal: Journal, signal: AbortSignal): Promise<void> {
    const before = this.#cleanUps.get(getPrefix(journal))
    if (!before) return
    createProgressReporter(journal).info('', 'waits until the release before it has removed the previous containers')
    await orAborted(before, signal).catch(() => undefined)
  }

  async #apply({ journal, controller }: OpenRelease, tookOver: () => void): Promise<void> {
    const { engine } = this.#options
    const { signal: ending } = this.#ending
    if (ending.aborted) return
    const log = this.#log.child(about(journal.key))
    log.info('deployment started')
    try {
      // Without it, an error that reaches no caller would make the release wait for a result that never comes.
      await withErrorScope(
        (error) => controller.abort(new PlanError('', `an error inside the agent: ${getMessage(error)}`)),
        () =>
          engine.applyRelease(journal, {
            signal: controller.signal,
            ending,
            mayProceed: this.#clock.mayProceed,
            tookOver,
          }),
      )
      log.info('deployment ended')
      engine.releaseEnded(getPrefix(journal))
    } catch (error) {
      if (error instanceof AbortedError) {
        await leavePosition(journal).catch((cause) => log.warn({ reason: getMessage(cause) }, 'the end is not written'))
        return
      }
      log.error({ err: error }, 'a deployment ended unexpectedly')
      endUnexpectedly(journal, getMessage(error))
      engine.releaseEnded(getPrefix(journal))
    }
  }

  /** No other process would end it: the server has dispatched it to this agent. */
  async #failUnwritten(release: Release, reason: string): Promise<void> {
    const { engine, journals } = this.#options
    this.#log.error({ reason }, 'a release could not be written to the journal')
    const journal = journals.unwritten(release)
    createProgressReporter(journal).outcome({
      successful: false,
      reason: `the release did not start: ${reason}`,
      previousRestored: await engine.previousContainersRun(release, this.#ending.signal).catch(() => false),
    })
    this.#start(journal)
  }
}

/** A release without an outcome would be in progress for as long as this agent is connected. */
function endUnexpectedly(journal: Journal, reason: string): void {
  const progressReporter = createProgressReporter(journal)
  const { undoing } = journal.state
  if (journal.outcome) {
    progressReporter.warn('', `the clean-up ended unexpectedly, previous containers may be left: ${reason}`)
    progressReporter.cleanUpEnd()
    return
  }
  progressReporter.outcome({
    successful: false,
    reason: [undoing?.reason, `the release ended unexpectedly: ${reason}`].filter(Boolean).join('; '),
    instanceId: undoing?.instanceId ?? '',
    cancelled: undoing?.cancelled ?? false,
  })
}

const getPrefix = ({ release }: Journal): string => release.owner?.prefix ?? ''

const about = ({ deploymentId, number }: ReleaseKey) => ({ deployment: deploymentId, release: number })

function getId({ deploymentId, number }: ReleaseKey): string {
  return `${deploymentId}/${number}`
}

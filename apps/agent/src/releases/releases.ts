import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import type { JournalPosition, Release, ReleaseKey } from '@crux/agent-protocol'
import { type Logger, withErrorScope } from '@crux/service-kit'
import { KeyedLock } from '../concurrency/keyed-lock.ts'
import { orAborted } from '../concurrency/or-aborted.ts'
import { Slots } from '../concurrency/slots.ts'
import { previousContainersRun } from '../engines/docker/apply/previous-containers-run.ts'
import type { ReleaseContext } from '../engines/docker/apply/release-context.ts'
import { runRelease } from '../engines/docker/apply/run-release.ts'
import { AbortedError } from '../errors/aborted-error.ts'
import { messageOf } from '../errors/message-of.ts'
import { PlanError } from '../errors/plan-error.ts'
import { countCrash, leavePosition } from '../journal/crash-loop.ts'
import type { Journal, JournalDirectory } from '../journal/journal.ts'
import { createProgressReporter } from '../journal/progress-reporter.ts'
import type { AgentClient } from '../link/client.ts'
import { createReporter } from './reporter.ts'

/** All deployments of this node: one at a time per prefix, a few prefixes in parallel, and the releases that earlier processes left. */
export interface Releases {
  /** Continues the releases that an earlier process started. */
  resume(): Promise<void>
  accept(release: Release): Promise<void>
  cancel(key: ReleaseKey): Promise<void>
  /** Whether a deployment under the prefix is in progress or waits. */
  isBusy(prefix: string): boolean
  /** The releases whose end the server has not acknowledged. */
  openKeys(): ReleaseKey[]
  /** @param openReleases the keys that were named when the link was opened */
  linkUp(positions: JournalPosition[], openReleases: ReleaseKey[]): Promise<void>
  linkDown(): void
  /** Leaves everything as it is, so that the next process resumes it. */
  stop(): Promise<void>
}

const atOnce = 4
const rememberedKeys = 1_000
const stopMs = 8_000

export function createReleases(options: {
  context: Omit<ReleaseContext, 'createLock' | 'ending' | 'tookOver'>
  journals: JournalDirectory
  client: AgentClient
  /** Called when a deployment ended, successfully or not: the networks and ports of its prefix may change again. */
  onEnded: (prefix: string) => void
  log: Logger
}): Releases {
  const { journals, client, log, onEnded } = options
  const images = new KeyedLock()
  const ending = new AbortController()
  setMaxListeners(0, ending.signal)
  const context = {
    ...options.context,
    createLock: (key, work) => images.run(key, work),
    ending: ending.signal,
  } satisfies Omit<ReleaseContext, 'tookOver'>
  const open = new Map<string, { journal: Journal; controller: AbortController }>()
  const finished = new Set<string>()
  const accepting = new Map<string, Promise<void>>()
  const running = new Set<Promise<void>>()
  const order = new KeyedLock()
  const prefixes = new KeyedLock()
  /** By prefix: the end of a successful release that removes what it replaced. */
  const cleanUps = new Map<string, Promise<void>>()
  const slots = new Slots(atOnce)
  /** Releases that crashed a process run one after another: the next crash then shows which of them causes it. */
  const suspects = new Slots(1)
  let stopping = false

  const reporter = createReporter({ client, log, onDone: forget })

  async function forget(journal: Journal): Promise<void> {
    const id = idOf(journal.key)
    open.delete(id)
    finished.add(id)
    const [oldest] = finished
    if (finished.size > rememberedKeys && oldest !== undefined) finished.delete(oldest)
    await journal.drop()
  }

  function begin(journal: Journal, isSuspect = false): void {
    const controller = new AbortController()
    open.set(idOf(journal.key), { journal, controller })
    reporter.follow(journal)
    if (journal.finished) return
    const { signal } = controller
    const prefix = prefixOf(journal)
    const work = prefixes
      .run(prefix, async (leavePrefix) => {
        await afterCleanUp(journal, signal)
        const inSlot = () =>
          slots.run((leaveSlot) => {
            const { promise: cleanedUp, resolve: endCleanUp } = Promise.withResolvers<void>()
            const tookOver = () => {
              cleanUps.set(prefix, cleanedUp)
              leaveSlot()
              leavePrefix()
            }
            return runOne(journal, controller, tookOver).finally(() => {
              endCleanUp()
              if (cleanUps.get(prefix) === cleanedUp) cleanUps.delete(prefix)
            })
          }, signal)
        await (isSuspect ? suspects.run(inSlot, signal) : inSlot())
      })
      .finally(() => running.delete(work))
    running.add(work)
  }

  /** A cancelled release no longer waits: it starts so that it can end. */
  async function afterCleanUp(journal: Journal, signal: AbortSignal): Promise<void> {
    const before = cleanUps.get(prefixOf(journal))
    if (!before) return
    createProgressReporter(journal).info('', 'waits until the release before it has removed the previous containers')
    await orAborted(before, signal).catch(() => undefined)
  }

  async function runOne(journal: Journal, controller: AbortController, tookOver: () => void): Promise<void> {
    if (stopping) return
    const about = { deployment: journal.key.deploymentId, release: journal.key.number }
    log.info(about, 'deployment begins')
    try {
      // Without it, an error that reaches no caller would make the release wait for a result that never comes.
      await withErrorScope(
        (error) => controller.abort(new PlanError('', `an error inside the agent: ${messageOf(error)}`)),
        () => runRelease(journal, { ...context, tookOver }, controller.signal),
      )
      log.info(about, 'deployment ended')
      onEnded(prefixOf(journal))
    } catch (error) {
      if (error instanceof AbortedError) {
        await leavePosition(journal).catch((cause) => log.warn({ reason: messageOf(cause) }, 'the end is not written'))
        return
      }
      log.error({ ...about, err: error }, 'a deployment broke off')
      const progressReporter = createProgressReporter(journal)
      if (journal.outcome) {
        progressReporter.warn('', `the clean-up broke off, previous containers may be left: ${messageOf(error)}`)
        progressReporter.cleanUpEnd()
        return onEnded(prefixOf(journal))
      }
      // A release without an outcome would be in progress for as long as this agent is connected.
      progressReporter.outcome({
        successful: false,
        reason: [journal.state.undoing?.reason, `the release broke off: ${messageOf(error)}`]
          .filter(Boolean)
          .join('; '),
        instanceId: journal.state.undoing?.instanceId ?? '',
        previousRestored: false,
        cancelled: journal.state.undoing?.cancelled ?? false,
        containerNames: [],
      })
      onEnded(prefixOf(journal))
    }
  }

  return {
    async resume() {
      const { journals: found, unreadable } = await journals.load()
      for (const name of unreadable) log.error({ file: name }, 'a journal cannot be read and is set aside')
      // A release that has taken over runs before a release that waits for its clean-up.
      const inOrder = found.sort((a, b) => Number(b.state.committed ?? false) - Number(a.state.committed ?? false))
      for (const journal of inOrder) {
        const isSuspect = await countCrash(journal).catch((error) => {
          log.warn({ reason: messageOf(error) }, 'a crash is counted in memory only')
          return true
        })
        begin(journal, isSuspect)
      }
    },
    async accept(release) {
      const { key } = release
      if (!key) return void log.warn('the server sent a release without a key, which nothing can be reported about')
      const id = idOf(key)
      if (open.has(id) || accepting.has(id) || finished.has(id) || stopping) {
        log.info({ deployment: key.deploymentId, release: key.number }, 'the release is known already')
        return
      }
      // The release is registered before its file exists, so that a repeated command or a cancellation at the same moment finds it.
      // Journals are created one after another, so that releases of a prefix run in the order in which they arrived.
      const creating = order.run('', async () => begin(await journals.create(release)))
      accepting.set(id, creating)
      try {
        await creating
      } catch (error) {
        const reason = messageOf(error)
        log.error({ reason }, 'a release could not be written to the journal')
        // No other process would end it: the server has dispatched it to this agent.
        const journal = journals.unwritten(release)
        createProgressReporter(journal).outcome({
          successful: false,
          reason: `the release did not begin: ${reason}`,
          instanceId: '',
          previousRestored: await previousContainersRun(context, release, undefined).catch(() => false),
          cancelled: false,
          containerNames: [],
        })
        begin(journal)
      } finally {
        accepting.delete(id)
      }
    },
    async cancel(key) {
      await accepting.get(idOf(key))?.catch(() => undefined)
      open.get(idOf(key))?.controller.abort(new AbortedError('cancelled'))
    },
    isBusy: (prefix) =>
      accepting.size > 0 || [...open.values()].some(({ journal }) => !journal.finished && prefixOf(journal) === prefix),
    openKeys: () => [...open.values()].map(({ journal }) => journal.key),
    async linkUp(positions, openReleases) {
      const wanted = new Map(positions.map((position) => [position.release ? idOf(position.release) : '', position]))
      for (const key of openReleases) {
        const entry = open.get(idOf(key))
        if (!entry) continue
        const position = wanted.get(idOf(key))
        if (position) entry.journal.acknowledged = Number(position.acknowledgedSequence)
        if (!position && entry.journal.finished) await forget(entry.journal)
        else if ((!position || position.abandoned) && !entry.journal.finished)
          entry.controller.abort(new AbortedError('abandoned'))
      }
      context.clock.up()
      reporter.linkUp()
    },
    linkDown() {
      context.clock.down()
      reporter.linkDown()
    },
    async stop() {
      stopping = true
      ending.abort(new AbortedError('shutdown'))
      for (const { controller } of open.values()) controller.abort(new AbortedError('shutdown'))
      // An engine that does not answer must not keep the process from ending; the journal has everything that a restart needs.
      await Promise.race([Promise.allSettled(running), delay(stopMs, undefined, { ref: false })])
    },
  }
}

const prefixOf = ({ release }: Journal): string => release.owner?.prefix ?? ''

function idOf({ deploymentId, number }: ReleaseKey): string {
  return `${deploymentId}/${number}`
}

import { toBinary } from '@bufbuild/protobuf'
import { type DeploymentEvent, DeploymentEventSchema } from '@crux/agent-protocol'
import { inBackground, type Logger } from '@crux/service-kit'
import { guardedTimer } from '../concurrency/pause.ts'
import { getMessage } from '../errors.ts'
import type { Journal } from '../journal/journal.ts'
import type { AgentClient } from '../link/client.ts'

const batchMax = 200
/** The server accepts 16 megabytes, and an event has seven at most. */
const batchBytesMax = 4 * 1_048_576
/**
 * Each batch is a transaction of the server: events of a busy moment are sent together, and the delay is not noticeable. It also keeps the
 * machine free for the engine during the first steps of a release.
 */
const gatherDefaultMs = 100

interface Sending {
  busy: boolean
  /** Sequence of the newest event that is sent without delay: the outcome, or the last one. */
  urgent: number
  /** Ends the delay. */
  hurry: () => void
}

export interface Reporter {
  /** Starts to send a journal's events, from the position that the server has, whenever the link is up. */
  follow(journal: Journal): void
  linkUp(): void
  linkDown(): void
}

/**
 * Sends journals to the server: one batch at a time per release, so that order holds, and an outcome at once; other events wait a moment
 * for more. A batch without an answer is sent again; the server recognizes it by its sequences.
 */
export function createReporter(options: {
  client: AgentClient
  onDone: (journal: Journal) => Promise<void>
  log: Logger
  retryMs?: number
  gatherMs?: number
}): Reporter {
  const { client, log, onDone, retryMs = 500, gatherMs = gatherDefaultMs } = options
  const active = new Map<Journal, Sending>()
  let up = false

  const maySend = (journal: Journal) => up && active.has(journal) && journal.acknowledged < journal.lastSequence

  async function send(journal: Journal, state: Sending): Promise<void> {
    if (state.busy) return
    state.busy = true
    try {
      while (maySend(journal)) {
        const isUrgent = journal.acknowledged < state.urgent || journal.finished
        if (!isUrgent && journal.lastSequence - journal.acknowledged < batchMax) await gather(state, gatherMs)
        if (!maySend(journal)) break
        const events = fitting(journal.eventsAfter(journal.acknowledged, batchMax))
        // An outcome is sent even where it cannot be written: otherwise a full disk would hide it for as long as it is full.
        await journal.written().catch((error) => {
          if (!journal.outcome) throw error
          log.warn({ reason: getMessage(error) }, 'the outcome of a release is sent before it is written')
        })
        const { acknowledgedSequence } = await client.reportDeployment({ release: journal.key, events })
        journal.acknowledged = Math.max(journal.acknowledged, Number(acknowledgedSequence))
      }
    } catch (error) {
      log.info({ reason: getMessage(error) }, 'events were not taken, sending them again')
      guardedTimer('reporting a release', retryMs, () => send(journal, state)).unref()
      return
    } finally {
      state.busy = false
    }
    if (active.has(journal) && journal.finished && journal.acknowledged >= journal.lastSequence) {
      active.delete(journal)
      await onDone(journal).catch((error) => log.warn({ reason: getMessage(error) }, 'a journal could not be removed'))
    } else if (maySend(journal)) {
      sendSoon(journal, state)
    }
  }

  function sendSoon(journal: Journal, state: Sending): void {
    inBackground('reporting a release', () => send(journal, state))
  }

  return {
    follow(journal) {
      const state: Sending = { busy: false, urgent: 0, hurry: () => undefined }
      active.set(journal, state)
      journal.onAppend = ({ event }) => {
        if (event.case === 'outcome' || journal.finished) {
          state.urgent = journal.lastSequence
          state.hurry()
        }
        sendSoon(journal, state)
      }
      sendSoon(journal, state)
    },
    linkUp() {
      up = true
      for (const [journal, state] of active) sendSoon(journal, state)
    },
    linkDown() {
      up = false
    },
  }
}

/** As many of the first events as one message holds, and at least one. */
function fitting(events: DeploymentEvent[]): DeploymentEvent[] {
  let bytes = 0
  const end = events.findIndex((event, index) => {
    bytes += toBinary(DeploymentEventSchema, event).length
    return index > 0 && bytes > batchBytesMax
  })
  return end < 0 ? events : events.slice(0, end)
}

function gather(state: Sending, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    state.hurry = () => {
      clearTimeout(timer)
      resolve()
    }
  })
}

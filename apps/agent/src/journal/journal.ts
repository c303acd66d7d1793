import { create, fromJson, type MessageInitShape, toJson } from '@bufbuild/protobuf'
import { timestampNow } from '@bufbuild/protobuf/wkt'
import {
  type DeploymentEvent,
  DeploymentEventSchema,
  type Release,
  type ReleaseKey,
  ReleaseKeySchema,
  ReleaseSchema,
} from '@crux/agent-protocol'
import { z } from 'zod'
import type { LineLog, LineLogs } from '../state/agent-state.ts'

/** The decisions of the agent, each written before the agent acts on it. */
export const JournalState = z.object({
  /** Digest per instance, as the registries answered. */
  digests: z.record(z.string(), z.string()).optional(),
  /** The plan in the form of the engine; only the engine reads it. */
  plan: z.unknown().optional(),
  /** Preparations that were completed, as "instance/index": they do not run twice. */
  done: z.array(z.string()).optional(),
  /** The new containers have the names: from here on the release cannot be undone. */
  committed: z.boolean().optional(),
  /** The release failed and is being undone. */
  undoing: z.object({ reason: z.string(), instanceId: z.string(), cancelled: z.boolean() }).optional(),
  /** The work in progress (crash-loop.ts); empty when there is none. */
  position: z.string().optional(),
  /** How many processes ended unexpectedly, by position. */
  crashes: z.record(z.string(), z.number()).optional(),
})
export type JournalState = z.output<typeof JournalState>

export type EventInit = NonNullable<MessageInitShape<typeof DeploymentEventSchema>['event']>

export interface JournalStore {
  create(release: Release): Promise<Journal>
  /** A journal in memory only: for the end of a release that could not be written, and so did not start. */
  unwritten(release: Release): Journal
  /** Loads the journals that earlier processes left. Those that cannot be read are set aside and reported, and block no other release. */
  load(): Promise<{ journals: Journal[]; unreadable: string[] }>
}

/** Of the plan's steps and of the release: a journal of another format, or of none, cannot be resumed and counts as unreadable. */
const format = 3

const Line = z.union([
  z.object({ release: z.json(), format: z.literal(format) }),
  z.object({ event: z.json() }),
  z.object({ decision: JournalState }),
])

/** Lines of one write, unless a single one is longer: a store may limit the size of one. */
const batchCharactersMax = 256 * 1_024

export function openJournals(logs: LineLogs): JournalStore {
  return {
    async create(release) {
      const { key } = release
      if (!key) throw new Error('a release has a key')
      const first = toText({ release: toJson(ReleaseSchema, release), format })
      return new Journal(await logs.create(toName(key), first), release)
    },
    unwritten: (release) => new Journal(undefined, release),
    async load() {
      const journals: Journal[] = []
      const unreadable: string[] = []
      for (const name of await logs.list()) {
        try {
          journals.push(await read(logs, name))
        } catch {
          unreadable.push(name)
          await logs.setAside(name).catch(() => undefined)
        }
      }
      return { journals, unreadable }
    },
  }
}

async function read(logs: LineLogs, name: string): Promise<Journal> {
  let release: Release | undefined
  const events: DeploymentEvent[] = []
  let state: JournalState = {}
  const { log, lines } = await logs.open(name)
  for (const text of lines.split('\n')) {
    if (text === '') continue
    const line = Line.parse(JSON.parse(text))
    if ('release' in line) release = fromJson(ReleaseSchema, line.release)
    else if ('event' in line) events.push(fromJson(DeploymentEventSchema, line.event))
    else state = { ...state, ...line.decision }
  }
  if (!release) throw new Error(`${name} holds no release`)
  return new Journal(log, release, events, state)
}

const toText = (line: unknown): string => `${JSON.stringify(line)}\n`

/** The record of a release: the order, the decisions and the events. One append-only log, read again after a crash. */
export class Journal {
  readonly key: ReleaseKey
  readonly release: Release
  readonly state: JournalState
  /** Highest sequence that the server has acknowledged. */
  acknowledged = 0
  /** Called after every append. */
  onAppend: (event: DeploymentEvent) => void = () => undefined
  readonly #events: DeploymentEvent[]
  /** Undefined for a journal in memory only. */
  readonly #log: LineLog | undefined
  #waiting: string[] = []
  #writing: Promise<void> | undefined
  #dropped = false

  constructor(log: LineLog | undefined, release: Release, events: DeploymentEvent[] = [], state: JournalState = {}) {
    this.key = release.key ?? create(ReleaseKeySchema)
    this.release = release
    this.state = state
    this.#events = events
    this.#log = log
  }

  /** The outcome, when it has been reported. */
  get outcome() {
    // The outcome is among the last events: only the clean-up of a success follows.
    const reported = this.#events.findLast(({ event }) => event.case === 'outcome')?.event
    return reported?.case === 'outcome' ? reported.value : undefined
  }

  /** Nothing follows: it failed and everything is restored, or it was successful and what it replaced is removed. */
  get finished() {
    const event = this.#events.at(-1)?.event
    return event?.case === 'cleanUpEnd' || (event?.case === 'outcome' && !event.value.successful)
  }

  get lastSequence() {
    return this.#events.length
  }

  append(event: EventInit) {
    const sequence = BigInt(this.#events.length + 1)
    const whole = create(DeploymentEventSchema, { sequence, at: timestampNow(), event })
    this.#events.push(whole)
    this.#write({ event: toJson(DeploymentEventSchema, whole) }).catch(() => undefined)
    this.onAppend(whole)
  }

  /** Resolves when the decision and all before it are written, so that they survive a kill of the process. Rejects while they cannot be written. */
  async decide(decision: JournalState) {
    Object.assign(this.state, decision)
    await this.#write({ decision })
    await this.written()
  }

  /** Resolves when everything written also survives a loss of power; called before anything is stopped or removed. */
  async secure() {
    await this.written()
    await this.#log?.secure()
  }

  /** Events after a sequence, at most `max`. */
  eventsAfter(sequence: number, max: number) {
    return this.#events.slice(sequence, sequence + max)
  }

  /** Resolves when everything appended so far is written. */
  async written() {
    while (this.#writing ?? this.#waiting.length > 0) await (this.#writing ?? this.#flush())
  }

  /** Leaves the record to the next process. */
  async close() {
    await this.#writing?.catch(() => undefined)
    await this.#log?.close()
  }

  async drop() {
    this.#dropped = true
    await this.#writing?.catch(() => undefined)
    await this.#log?.remove()
  }

  #write(line: unknown): Promise<void> {
    this.#waiting.push(toText(line))
    return this.#flush()
  }

  /** Lines that accumulate during one write go together into the next. A failed write loses none: they wait for the next attempt. */
  #flush(): Promise<void> {
    this.#writing ??= this.#writeAll()
    return this.#writing
  }

  async #writeAll(): Promise<void> {
    await Promise.resolve()
    try {
      while (this.#waiting.length > 0) {
        const count = countBatch(this.#waiting)
        if (this.#log && !this.#dropped) await this.#log.append(this.#waiting.slice(0, count).join(''))
        this.#waiting.splice(0, count)
      }
    } finally {
      this.#writing = undefined
    }
  }
}

/** How many of the first lines are written together: at least one. */
function countBatch(lines: readonly string[]): number {
  let characters = 0
  const end = lines.findIndex((line, index) => {
    characters += line.length
    return index > 0 && characters > batchCharactersMax
  })
  return end < 0 ? lines.length : end
}

/** The server sends the id, and it becomes a name of the store. */
function toName({ deploymentId, number }: ReleaseKey): string {
  if (!/^[A-Za-z0-9_-]{1,100}$/.test(deploymentId))
    throw new Error('a deployment id has only letters, digits, dashes and underscores')
  return `${deploymentId}.${number}`
}

import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
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
import { getMessage } from '../errors.ts'

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

export interface JournalDirectory {
  create(release: Release): Promise<Journal>
  /** A journal in memory only: for the end of a release that could not be written, and so did not start. */
  unwritten(release: Release): Journal
  /** Loads the journals that earlier processes left. Files that cannot be read are moved aside and reported, and block no other release. */
  load(): Promise<{ journals: Journal[]; unreadable: string[] }>
}

/** Of the plan's steps and of the release: a journal of another format, or of none, cannot be resumed and counts as unreadable. */
const format = 3

const Line = z.union([
  z.object({ release: z.json(), format: z.literal(format) }),
  z.object({ event: z.json() }),
  z.object({ decision: JournalState }),
])

export function openJournalDirectory(directory: string): JournalDirectory {
  const toPath = (key: ReleaseKey) => join(directory, `${safe(key.deploymentId)}.${key.number}.jsonl`)
  return {
    async create(release) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const { key } = release
      if (!key) throw new Error('a release has a key')
      const file = await open(toPath(key), 'ax', 0o600)
      const journal = new Journal({ file, path: toPath(key), size: 0 }, release)
      try {
        await journal.start()
      } catch (error) {
        await journal.drop()
        throw error
      }
      return journal
    },
    unwritten: (release) => new Journal(undefined, release),
    async load() {
      const names = await readdir(directory).catch((): string[] => [])
      const journals: Journal[] = []
      const unreadable: string[] = []
      for (const name of names.filter((candidate) => candidate.endsWith('.jsonl')).sort()) {
        try {
          journals.push(await read(join(directory, name)))
        } catch {
          unreadable.push(name)
          await rename(join(directory, name), join(directory, `${name}.unreadable`)).catch(() => undefined)
        }
      }
      return { journals, unreadable }
    },
  }
}

async function read(path: string): Promise<Journal> {
  let release: Release | undefined
  const events: DeploymentEvent[] = []
  let state: JournalState = {}
  const content = await readFile(path, { encoding: 'utf8', flag: constants.O_RDONLY | constants.O_NOFOLLOW })
  // A crash may have cut the last line short. Nothing has acted on it, and the next line must not be appended to it.
  const whole = content.slice(0, content.lastIndexOf('\n') + 1)
  for (const text of whole.split('\n')) {
    if (text === '') continue
    const line = Line.parse(JSON.parse(text))
    if ('release' in line) release = fromJson(ReleaseSchema, line.release)
    else if ('event' in line) events.push(fromJson(DeploymentEventSchema, line.event))
    else state = { ...state, ...line.decision }
  }
  if (!release) throw new Error(`${path} holds no release`)
  const file = await open(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW)
  const size = Buffer.byteLength(whole)
  if (whole.length < content.length) await file.truncate(size)
  return new Journal({ file, path, size }, release, events, state)
}

interface Written {
  file: FileHandle
  path: string
  /** Bytes of whole lines. */
  size: number
}

/** The record of a release: the order, the decisions and the events. One append-only file (0600), read again after a crash. */
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
  readonly #written: Written | undefined
  #waiting: string[] = []
  #writing: Promise<void> | undefined
  #dropped = false
  #torn = false

  constructor(
    written: Written | undefined,
    release: Release,
    events: DeploymentEvent[] = [],
    state: JournalState = {},
  ) {
    this.key = release.key ?? create(ReleaseKeySchema)
    this.release = release
    this.state = state
    this.#events = events
    this.#written = written
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

  /** Writes the first line. */
  async start() {
    await this.#write({ release: toJson(ReleaseSchema, this.release), format })
  }

  append(event: EventInit) {
    const sequence = BigInt(this.#events.length + 1)
    const whole = create(DeploymentEventSchema, { sequence, at: timestampNow(), event })
    this.#events.push(whole)
    this.#write({ event: toJson(DeploymentEventSchema, whole) }).catch(() => undefined)
    this.onAppend(whole)
  }

  /** Resolves when the decision and all before it are written, so that they survive a kill of the process. Rejects while the disk is full. */
  async decide(decision: JournalState) {
    Object.assign(this.state, decision)
    await this.#write({ decision })
    await this.written()
  }

  /** Resolves when everything written also survives a loss of power; called before anything is stopped or removed. */
  async secure() {
    await this.written()
    await this.#written?.file.datasync()
  }

  /** Events after a sequence, at most `max`. */
  eventsAfter(sequence: number, max: number) {
    return this.#events.slice(sequence, sequence + max)
  }

  /** Resolves when everything appended so far is written. */
  async written() {
    while (this.#writing ?? this.#waiting.length > 0) await (this.#writing ?? this.#flush())
  }

  async drop() {
    this.#dropped = true
    await this.#writing?.catch(() => undefined)
    if (!this.#written) return
    await this.#written.file.close()
    await rm(this.#written.path, { force: true })
  }

  #write(line: unknown): Promise<void> {
    this.#waiting.push(`${JSON.stringify(line)}\n`)
    return this.#flush()
  }

  /** Lines that accumulate during one write go together into the next. A failed write loses none: they wait for the next attempt. */
  #flush(): Promise<void> {
    this.#writing ??= this.#writeAll()
    return this.#writing
  }

  async #writeAll(): Promise<void> {
    const written = this.#written
    await Promise.resolve()
    let lines: string[] = []
    try {
      while (this.#waiting.length > 0) {
        lines = this.#waiting
        this.#waiting = []
        if (!written || this.#dropped) continue
        // A full disk may accept only a part of a line.
        if (this.#torn) await written.file.truncate(written.size)
        this.#torn = true
        const bytes = Buffer.from(lines.join(''))
        await written.file.appendFile(bytes)
        written.size += bytes.length
        this.#torn = false
      }
    } catch (error) {
      this.#waiting = [...lines, ...this.#waiting]
      throw new Error(`the agent cannot write its data directory: ${getMessage(error)}`, { cause: error })
    } finally {
      this.#writing = undefined
    }
  }
}

/** The server sends the id, and it becomes a file name. */
function safe(id: string): string {
  if (!/^[A-Za-z0-9_-]{1,100}$/.test(id))
    throw new Error('a deployment id has only letters, digits, dashes and underscores')
  return id
}

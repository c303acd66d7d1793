import { create } from '@bufbuild/protobuf'
import { type Container, ContainerSchema } from '@crux/agent-protocol'
import type Docker from 'dockerode'
import { sharedTurn } from '../../../concurrency/shared-turn.ts'
import { Slots } from '../../../concurrency/slots.ts'
import { agingReason, toView } from './container-view.ts'
import type { EventHub } from './events.ts'

/** `held`: the engine holds the container locked and does not describe it for now. */
type Inspected = Docker.ContainerInspectInfo | 'held' | undefined

/** The raw answers of the engine. */
export interface ViewSource {
  list(options: Docker.ContainerListOptions): Promise<Docker.ContainerInfo[]>
  inspect(id: string): Promise<Inspected>
}

interface Entry {
  container: Container
  createdAt: number
  reasonAt: (now: number) => string
}

/** A list of ids becomes part of a URL; above this number all containers are listed. */
const listedByIdMax = 50
/** Answers of the engine are large: all of them at once would need more memory than the view. */
const inspectedAtOnce = 16

type EventSource = Pick<EventHub, 'isOpen' | 'subscribe' | 'catchUp'>

/**
 * The engine's containers as this process knows them: listed once, then updated by events, and each inspected when it changed. Changes are
 * only recorded as they happen and read when a caller asks, so an idle agent sends its engine no requests. While the engine's events do not
 * arrive, each call reads everything.
 */
export class LiveView {
  readonly #source: ViewSource
  readonly #hub: EventSource
  readonly #slots = new Slots(inspectedAtOnce)
  readonly #caughtUp = sharedTurn(() => this.#catchUp())
  readonly #refreshed = sharedTurn(() => this.#refresh())
  #entries = new Map<string, Entry>()
  #stale = true
  #dirty = new Set<string>()

  constructor(source: ViewSource, hub: EventSource) {
    this.#source = source
    this.#hub = hub
    // It is the first listener: every later listener of the same event finds the change recorded here.
    hub.subscribe((event) => {
      if (event.kind === 'relist') this.#stale = true
      else this.touch(event.id)
    })
  }

  /** All containers, the newest first, as they were at the call or later. @throws EngineError `unavailable`, and the errors of a list */
  async all(): Promise<Container[]> {
    await this.#caughtUp()
    await this.#refreshed()
    const now = Date.now()
    return [...this.#entries.values()]
      .sort((left, right) => right.createdAt - left.createdAt)
      .map((entry) => containerAt(entry, now))
  }

  /** The containers of the given ids that still exist, as of their last event or later. */
  async some(ids: readonly string[]): Promise<Container[]> {
    await this.#refreshed()
    const now = Date.now()
    return ids.flatMap((id) => {
      const entry = this.#entries.get(id)
      return entry ? [containerAt(entry, now)] : []
    })
  }

  /** Marks a container that changed without an event. */
  touch(id: string): void {
    this.#dirty.add(id)
  }

  async #catchUp(): Promise<void> {
    if (this.#stale || !this.#hub.isOpen) return
    try {
      await this.#hub.catchUp()
    } catch {
      // If the engine cannot report what changed, everything is listed, and that call also reports why.
      this.#stale = true
    }
  }

  async #refresh(): Promise<void> {
    const ids = this.#dirty
    const all = this.#stale || !this.#hub.isOpen
    this.#dirty = new Set()
    this.#stale = false
    try {
      if (all) await this.#readAll()
      else if (ids.size > 0) await this.#read([...ids])
    } catch (error) {
      if (all) this.#stale = true
      for (const id of ids) this.touch(id)
      throw error
    }
  }

  async #readAll(): Promise<void> {
    const readOne = async (listed: Docker.ContainerInfo) =>
      [listed.Id, toEntryPath(listed, await this.#source.inspect(listed.Id))] as const
    const listed = await this.#source.list({})
    const seen = await Promise.all(listed.map((container) => this.#slots.run(() => readOne(container))))
    this.#entries = new Map(seen.flatMap(([id, entry]) => (entry ? [[id, entry] as const] : [])))
  }

  /** Inspects first: an inspection waits while the engine works on a container, whereas its list shows the state from before. */
  async #read(ids: readonly string[]): Promise<void> {
    const inspectOne = async (id: string) => [id, await this.#source.inspect(id)] as const
    const inspected = new Map(await Promise.all(ids.map((id) => this.#slots.run(() => inspectOne(id)))))
    const existing = ids.filter((id) => inspected.get(id) !== undefined)
    const filter = existing.length <= listedByIdMax ? { filters: { id: existing } } : {}
    const listed = existing.length === 0 ? [] : await this.#source.list(filter)
    const byId = new Map(listed.map((container) => [container.Id, container]))
    for (const id of ids) {
      const container = byId.get(id)
      const entry = container && toEntryPath(container, inspected.get(id))
      if (entry) this.#entries.set(id, entry)
      else this.#entries.delete(id)
    }
  }
}

/** Returns the same object as long as nothing about it changes, so that all callers that keep a list share it. */
function containerAt(entry: Entry, now: number): Container {
  const reason = entry.reasonAt(now)
  if (reason !== entry.container.reason) entry.container = create(ContainerSchema, { ...entry.container, reason })
  return entry.container
}

/** Undefined for a container that was removed between the list and the inspection. */
function toEntryPath(listed: Docker.ContainerInfo, seen: Inspected): Entry | undefined {
  if (seen === undefined) return undefined
  const inspected = seen === 'held' ? undefined : seen
  return {
    container: toView(listed, inspected),
    createdAt: inspected?.Created ? Date.parse(inspected.Created) : listed.Created * 1_000,
    reasonAt: agingReason(listed, inspected),
  }
}

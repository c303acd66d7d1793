import { create } from '@bufbuild/protobuf'
import { type Container, ContainerSchema } from '@crux/agent-protocol'
import type Docker from 'dockerode'
import { sharedTurn } from '../../../concurrency/shared-turn.ts'
import { Slots } from '../../../concurrency/slots.ts'
import { agingReason, viewOf } from './container-view.ts'
import type { EventHub } from './events.ts'

/** The engine's containers as this process knows them: listed once, then updated by events, and each inspected when it changed. */
export interface LiveView {
  /** All containers, the newest first, as they were at the call or later. @throws EngineError `away`, and the errors of a list */
  all(): Promise<Container[]>
  /** The containers of the given ids that still exist, as of their last event or later. */
  some(ids: readonly string[]): Promise<Container[]>
  /** Marks a container that changed without an event. */
  touch(id: string): void
}

/** The raw answers of the engine. `held`: the engine holds the container locked and does not describe it for now. */
export interface ViewSource {
  list(options: Docker.ContainerListOptions): Promise<Docker.ContainerInfo[]>
  inspect(id: string): Promise<Docker.ContainerInspectInfo | 'held' | undefined>
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

/**
 * Changes are only recorded as they happen and read when a caller asks, so an idle agent sends its engine no requests. While the engine's
 * events do not arrive, each call reads everything.
 */
export function createLiveView(source: ViewSource, hub: Pick<EventHub, 'isOpen' | 'subscribe' | 'catchUp'>): LiveView {
  const slots = new Slots(inspectedAtOnce)
  let entries = new Map<string, Entry>()
  let stale = true
  let dirty = new Set<string>()

  // It is the first listener: every later listener of the same event finds the change recorded here.
  hub.subscribe((event) => {
    if (event.kind === 'relist') stale = true
    else dirty.add(event.id)
  })

  const refreshed = sharedTurn(async () => {
    const ids = dirty
    const all = stale || !hub.isOpen
    dirty = new Set()
    stale = false
    try {
      if (all) await lookAtAll()
      else if (ids.size > 0) await lookAt([...ids])
    } catch (error) {
      if (all) stale = true
      for (const id of ids) dirty.add(id)
      throw error
    }
  })

  const caughtUp = sharedTurn(async () => {
    if (stale || !hub.isOpen) return
    try {
      for (const id of await hub.catchUp()) dirty.add(id)
    } catch {
      // If the engine cannot report what changed, everything is listed, and that call also reports why.
      stale = true
    }
  })

  async function lookAtAll(): Promise<void> {
    const listed = await source.list({})
    const seen = await Promise.all(
      listed.map((container) =>
        slots.run(async () => [container.Id, entryOf(container, await source.inspect(container.Id))] as const),
      ),
    )
    entries = new Map(seen.flatMap(([id, entry]) => (entry ? [[id, entry] as const] : [])))
  }

  /** Inspects first: an inspection waits while the engine works on a container, whereas its list shows the state from before. */
  async function lookAt(ids: readonly string[]): Promise<void> {
    const inspected = new Map(
      await Promise.all(ids.map((id) => slots.run(async () => [id, await source.inspect(id)] as const))),
    )
    const there = ids.filter((id) => inspected.get(id) !== undefined)
    const filter = there.length <= listedByIdMax ? { filters: { id: there } } : {}
    const listed = there.length === 0 ? [] : await source.list(filter)
    const byId = new Map(listed.map((container) => [container.Id, container]))
    for (const id of ids) {
      const container = byId.get(id)
      const entry = container && entryOf(container, inspected.get(id))
      if (entry) entries.set(id, entry)
      else entries.delete(id)
    }
  }

  /** Returns the same object as long as nothing about it changes, so that all callers that keep a list share it. */
  function answerOf(entry: Entry, now: number): Container {
    const reason = entry.reasonAt(now)
    if (reason !== entry.container.reason) entry.container = create(ContainerSchema, { ...entry.container, reason })
    return entry.container
  }

  return {
    async all() {
      await caughtUp()
      await refreshed()
      const now = Date.now()
      return [...entries.values()]
        .sort((left, right) => right.createdAt - left.createdAt)
        .map((entry) => answerOf(entry, now))
    },
    async some(ids) {
      await refreshed()
      const now = Date.now()
      return ids.flatMap((id) => {
        const entry = entries.get(id)
        return entry ? [answerOf(entry, now)] : []
      })
    },
    touch: (id) => void dirty.add(id),
  }
}

/** Undefined for a container that was removed between the list and the inspection. */
function entryOf(
  listed: Docker.ContainerInfo,
  seen: Docker.ContainerInspectInfo | 'held' | undefined,
): Entry | undefined {
  if (seen === undefined) return undefined
  const inspected = seen === 'held' ? undefined : seen
  return {
    container: viewOf(listed, inspected),
    createdAt: inspected?.Created ? Date.parse(inspected.Created) : listed.Created * 1_000,
    reasonAt: agingReason(listed, inspected),
  }
}

import { type Container as AgentContainer, ContainerState, type StreamContainersRequest } from '@crux/agent-protocol'
import { type Container, CruxError } from '@crux/contract'
import type { App } from '../context.ts'
import type { AgentStream } from '../gateway/links.ts'
import type { Subscriber } from '../live/handlers.ts'
import { toContainer } from './container-view.ts'

export type StateFilter = { prefix: string | null; projectId: string | null }
type Watcher = {
  subscriber: Subscriber<'node'>
  filter: StateFilter
  sent: Container[] | undefined
  /** Waits for its socket to drain; it gets the newest list then, not those in between. */
  blocked: boolean
}

/** Messages of one node to its watchers are at least this far apart; the first after a quiet time goes out at once. */
const coalesceMs = 20
const bufferedMax = 1_048_576
const reopenMs = 1_000

/** The live containers of the nodes that somebody looks at: one stream per agent, whoever and how many watch. */
export function createStateWatches(app: App) {
  const nodes = new Map<string, ReturnType<typeof createNodeState>>()

  return {
    /** @throws CruxError serviceUnavailable when the node's link is at another server process */
    async watch(nodeId: string, subscriber: Subscriber<'node'>, filter: StateFilter): Promise<void> {
      let state = nodes.get(nodeId)
      if (!state) {
        state = createNodeState(app, nodeId, () => nodes.delete(nodeId))
        nodes.set(nodeId, state)
      }
      await state.add(subscriber, filter)
    },
  }
}

function createNodeState(app: App, nodeId: string, unused: () => void) {
  const containers = new Map<string, Container>()
  const watchers = new Map<string, Watcher>()
  let stream: AgentStream | undefined
  let opening: Promise<void> | undefined
  let known = false
  let closed = false
  let flushedAt = 0
  let timer: NodeJS.Timeout | undefined
  let retry: NodeJS.Timeout | undefined

  const unlisten = app.links.onLinked((agent) => {
    if (agent.nodeId === nodeId) void open().catch(() => undefined)
  })

  /** Idempotent. An agent that is away is no error: the list is empty until it is back. */
  function open(): Promise<void> {
    if (stream || closed) return Promise.resolve()
    clearTimeout(retry)
    opening ??= app.links
      .watchContainers(nodeId, { message: take, ended })
      .then((opened) => {
        if (closed) opened.close()
        else stream = opened
      })
      .catch((error: unknown) => {
        if (error instanceof CruxError && error.code !== 'serviceUnavailable') return forget()
        throw error
      })
      .finally(() => {
        opening = undefined
      })
    return opening
  }

  function take({ full, containers: changed }: StreamContainersRequest) {
    if (full) containers.clear()
    for (const container of changed) {
      if (container.state === ContainerState.REMOVED) containers.delete(keyOf(container))
      else containers.set(keyOf(container), toContainer(container))
    }
    known = true
    schedule()
  }

  function ended() {
    stream = undefined
    if (closed) return
    if (app.links.status(nodeId) !== 'connected') return forget()
    // The link stands, so the agent had to begin anew: what was shown last stays until it says more.
    retry = setTimeout(
      () => void open().catch((err: unknown) => app.log.warn({ err, nodeId }, 'a watch is lost')),
      reopenMs,
    )
  }

  function forget() {
    containers.clear()
    known = true
    schedule()
  }

  function schedule() {
    if (timer) return
    const waitMs = flushedAt + coalesceMs - performance.now()
    if (waitMs <= 0) flush()
    else timer = setTimeout(flush, waitMs)
  }

  function flush() {
    timer = undefined
    flushedAt = performance.now()
    for (const watcher of watchers.values()) show(watcher)
  }

  function show(watcher: Watcher) {
    const { subscriber, filter } = watcher
    if (!known || watcher.blocked || subscriber.left) return
    if (subscriber.buffered() > bufferedMax) {
      watcher.blocked = true
      void subscriber.drained().then(() => {
        watcher.blocked = false
        show(watcher)
      })
      return
    }
    const list = [...containers.values()].filter((container) => matches(container, filter))
    if (watcher.sent && isSame(watcher.sent, list)) return
    watcher.sent = list
    subscriber.send('containers-state-list', { prefix: filter.prefix, containers: list })
  }

  function leave(subscriber: Subscriber<'node'>) {
    for (const [key, watcher] of watchers) if (watcher.subscriber === subscriber) watchers.delete(key)
    if (watchers.size > 0 || closed) return
    closed = true
    clearTimeout(timer)
    clearTimeout(retry)
    unlisten()
    stream?.close()
    unused()
  }

  return {
    async add(subscriber: Subscriber<'node'>, filter: StateFilter) {
      const watcher: Watcher = { subscriber, filter, sent: undefined, blocked: false }
      const first = ![...watchers.values()].some((other) => other.subscriber === subscriber)
      // Asking again for the same is answered with the list again.
      watchers.set(`${subscriber.id} ${filter.prefix} ${filter.projectId}`, watcher)
      if (first) subscriber.onLeave(() => leave(subscriber))
      await open()
      show(watcher)
    },
  }
}

const keyOf = (container: AgentContainer) =>
  container.engineId || `${container.ref?.prefix ?? ''}/${container.ref?.name ?? ''}`

const matches = ({ id, labels }: Container, filter: StateFilter) =>
  (!filter.prefix || id.prefix === filter.prefix) &&
  (!filter.projectId || labels['dev.crux.project'] === filter.projectId)

/** A container that did not change is the same object as before. */
const isSame = (before: Container[], after: Container[]) =>
  before.length === after.length && before.every((container, index) => container === after[index])

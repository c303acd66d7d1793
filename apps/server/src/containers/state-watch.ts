import { type Container as AgentContainer, ContainerState, type StreamContainersRequest } from '@crux/agent-protocol'
import { type Container, CruxError } from '@crux/contract'
import type { AgentStream } from '../agent-links/index.ts'
import type { App } from '../context.ts'
import type { Subscriber } from '../live/index.ts'
import { engineScope } from '../nodes/index.ts'
import { type ContainerView, toContainerView, visibleContainer } from './container-view.ts'

export type StateFilter = { prefix: string | null; projectId: string | null }
type Watcher = {
  subscriber: Subscriber<'node'>
  filter: StateFilter
  sent: Container[] | undefined
  /** Waits for its socket to drain; then it gets only the newest list. */
  blocked: boolean
}

/** The minimum interval between messages of one node to its watchers; the first after an idle time is sent at once. */
const coalesceMs = 20
const bufferedMax = 1_048_576
const reopenMs = 1_000

/** The live containers of the watched nodes: one stream per agent for all watchers. Each watcher sees what their role may see. */
export function createStateWatches(app: App) {
  const nodes = new Map<string, ReturnType<typeof createNodeState>>()

  return {
    /** @throws CruxError serviceUnavailable when the node's link is at another server process */
    async watch(nodeId: string, subscriber: Subscriber<'node'>, filter: StateFilter): Promise<void> {
      let state = nodes.get(nodeId)
      if (!state) {
        state = createNodeState(app, { nodeId, teamId: subscriber.team.id }, () => nodes.delete(nodeId))
        nodes.set(nodeId, state)
      }
      await state.add(subscriber, filter)
    },
  }
}

function createNodeState(app: App, owner: { teamId: string; nodeId: string }, unused: () => void) {
  const { teamId, nodeId } = owner
  const containers = new Map<string, ContainerView>()
  const watchers = new Map<string, Watcher>()
  let stream: AgentStream | undefined
  let opening: Promise<void> | undefined
  let deletedNodeIds: string[] = []
  let known = false
  let closed = false
  let flushedAt = 0
  let timer: NodeJS.Timeout | undefined
  let retry: NodeJS.Timeout | undefined

  const unlisten = app.links.onLinked((agent) => {
    if (agent.nodeId === nodeId) void open().catch(() => undefined)
  })
  const unhear = app.bus.on('node.changed', (event) => {
    if (event.teamId === teamId && event.nodeId !== nodeId)
      void renewScope().catch((err: unknown) => app.log.warn({ err, nodeId }, 'a watch keeps its former scope'))
  })

  /** A deleted node leaves its containers to this one, so that the agent is asked again with the current scope. */
  async function renewScope() {
    if (!stream || closed) return
    const now = await engineScope(app, owner)
    if (!stream || closed || now.deletedNodeIds.join() === deletedNodeIds.join()) return
    stream.close()
    stream = undefined
    await open()
  }

  /** Idempotent. An unavailable agent is no error: the list is empty until it reconnects. */
  function open(): Promise<void> {
    if (stream || closed) return Promise.resolve()
    clearTimeout(retry)
    opening ??= openStream()
      .catch((error: unknown) => {
        if (error instanceof CruxError && error.code !== 'serviceUnavailable') return forget()
        throw error
      })
      .finally(() => {
        opening = undefined
      })
    return opening
  }

  async function openStream() {
    const scope = await engineScope(app, owner)
    deletedNodeIds = scope.deletedNodeIds
    const opened = await app.links.watchContainers(nodeId, scope, { message: take, ended })
    if (closed) opened.close()
    else stream = opened
  }

  function take({ full, containers: changed }: StreamContainersRequest) {
    if (full) containers.clear()
    for (const container of changed) {
      if (container.state === ContainerState.REMOVED) containers.delete(keyOf(container))
      else containers.set(keyOf(container), toContainerView(container))
    }
    known = true
    schedule()
  }

  function ended() {
    stream = undefined
    if (closed) return
    if (app.links.status(nodeId) !== 'connected') return forget()
    // The link is connected, so the agent had to restart the stream: the last list stays visible until the agent sends
    // a new one.
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
    const list = [...containers.values()].flatMap((view) => {
      const container = visibleContainer(view, subscriber.team.role, filter.prefix ?? '')
      return container && isOfProject(container, filter) ? [container] : []
    })
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
    unhear()
    stream?.close()
    unused()
  }

  return {
    async add(subscriber: Subscriber<'node'>, filter: StateFilter) {
      const watcher: Watcher = { subscriber, filter, sent: undefined, blocked: false }
      const first = ![...watchers.values()].some((other) => other.subscriber === subscriber)
      // A repeated request with the same filter is answered with the list again.
      const key = `${subscriber.id} ${filter.prefix} ${filter.projectId}`
      watchers.set(key, watcher)
      if (first) subscriber.onLeave(() => leave(subscriber))
      subscriber.onRoleChange(() => watchers.has(key) && show(watcher))
      await open()
      show(watcher)
    },
  }
}

const keyOf = (container: AgentContainer) =>
  container.engineId || `${container.ref?.prefix ?? ''}/${container.ref?.name ?? ''}`

const isOfProject = ({ labels }: Container, { projectId }: StateFilter) =>
  !projectId || labels['dev.crux.project'] === projectId

/** An unchanged container is the same object as before. */
const isSame = (before: Container[], after: Container[]) =>
  before.length === after.length && before.every((container, index) => container === after[index])

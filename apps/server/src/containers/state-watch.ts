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
  const nodes = new Map<string, NodeState>()

  return {
    /** @throws CruxError serviceUnavailable when the node's link is at another server process */
    async watch(nodeId: string, subscriber: Subscriber<'node'>, filter: StateFilter): Promise<void> {
      let state = nodes.get(nodeId)
      if (!state) {
        state = new NodeState(app, { nodeId, teamId: subscriber.team.id }, () => nodes.delete(nodeId))
        nodes.set(nodeId, state)
      }
      await state.add(subscriber, filter)
    },
  }
}

/** The containers of one node, for all of its watchers. */
class NodeState {
  private readonly app: App
  private readonly owner: { teamId: string; nodeId: string }
  private readonly unused: () => void
  private readonly containers = new Map<string, ContainerView>()
  private readonly watchers = new Map<string, Watcher>()
  private readonly unsubscribes: (() => void)[]
  private stream: AgentStream | undefined
  private opening: Promise<void> | undefined
  private deletedNodeIds: string[] = []
  /** A list has arrived, or it is known that there is none. */
  private known = false
  private closed = false
  private flushedAt = 0
  private timer: NodeJS.Timeout | undefined
  private retry: NodeJS.Timeout | undefined

  constructor(app: App, owner: { teamId: string; nodeId: string }, unused: () => void) {
    const { teamId, nodeId } = owner
    this.app = app
    this.owner = owner
    this.unused = unused
    this.unsubscribes = [
      app.links.onLinked((agent) => {
        if (agent.nodeId === nodeId) void this.open().catch(() => undefined)
      }),
      app.bus.on('node.changed', (event) => {
        if (event.teamId === teamId && event.nodeId !== nodeId)
          void this.renewScope().catch((err: unknown) =>
            app.log.warn({ err, nodeId }, 'a watch keeps its previous scope'),
          )
      }),
    ]
  }

  async add(subscriber: Subscriber<'node'>, filter: StateFilter): Promise<void> {
    const { watchers } = this
    const watcher: Watcher = { subscriber, filter, sent: undefined, blocked: false }
    const first = ![...watchers.values()].some((other) => other.subscriber === subscriber)
    // A repeated request with the same filter is answered with the list again.
    const key = `${subscriber.id} ${filter.prefix} ${filter.projectId}`
    watchers.set(key, watcher)
    if (first) subscriber.onLeave(() => this.leave(subscriber))
    subscriber.onRoleChange(() => watchers.has(key) && this.show(watcher))
    await this.open()
    this.show(watcher)
  }

  /** A deleted node leaves its containers to this one, so that the agent is asked again with the current scope. */
  private async renewScope(): Promise<void> {
    if (!this.stream || this.closed) return
    const { deletedNodeIds } = await engineScope(this.app, this.owner)
    if (!this.stream || this.closed || deletedNodeIds.join() === this.deletedNodeIds.join()) return
    this.stream.close()
    this.stream = undefined
    await this.open()
  }

  /** Idempotent. An unavailable agent is no error: the list is empty until it reconnects. */
  private open(): Promise<void> {
    if (this.stream || this.closed) return Promise.resolve()
    clearTimeout(this.retry)
    this.opening ??= this.openStream()
      .catch((error: unknown) => {
        if (error instanceof CruxError && error.code !== 'serviceUnavailable') return this.forget()
        throw error
      })
      .finally(() => {
        this.opening = undefined
      })
    return this.opening
  }

  private async openStream(): Promise<void> {
    const scope = await engineScope(this.app, this.owner)
    this.deletedNodeIds = scope.deletedNodeIds
    const opened = await this.app.links.watchContainers(this.owner.nodeId, scope, {
      message: (message) => this.take(message),
      ended: () => this.ended(),
    })
    if (this.closed) opened.close()
    else this.stream = opened
  }

  private take({ full, containers: changed }: StreamContainersRequest): void {
    if (full) this.containers.clear()
    for (const container of changed) {
      if (container.state === ContainerState.REMOVED) this.containers.delete(toKey(container))
      else this.containers.set(toKey(container), toContainerView(container))
    }
    this.known = true
    this.schedule()
  }

  private ended() {
    const { log, links } = this.app
    const { nodeId } = this.owner
    this.stream = undefined
    if (this.closed) return
    if (links.status(nodeId) !== 'connected') return this.forget()
    // The link is connected, so the agent had to restart the stream: the last list stays visible until the agent sends
    // a new one.
    this.retry = setTimeout(
      () => void this.open().catch((err: unknown) => log.warn({ err, nodeId }, 'a watch is lost')),
      reopenMs,
    )
  }

  private forget(): void {
    this.containers.clear()
    this.known = true
    this.schedule()
  }

  private schedule(): void {
    if (this.timer) return
    const waitMs = this.flushedAt + coalesceMs - performance.now()
    if (waitMs <= 0) this.flush()
    else this.timer = setTimeout(() => this.flush(), waitMs)
  }

  private flush(): void {
    this.timer = undefined
    this.flushedAt = performance.now()
    for (const watcher of this.watchers.values()) this.show(watcher)
  }

  private show(watcher: Watcher): void {
    const { subscriber, filter } = watcher
    if (!this.known || watcher.blocked || subscriber.left) return
    if (subscriber.buffered() > bufferedMax) {
      watcher.blocked = true
      void subscriber.drained().then(() => {
        watcher.blocked = false
        this.show(watcher)
      })
      return
    }
    const list = [...this.containers.values()].flatMap((view) => {
      const container = visibleContainer(view, subscriber.team.role, filter.prefix ?? '')
      return container && isOfProject(container, filter) ? [container] : []
    })
    if (watcher.sent && isSame(watcher.sent, list)) return
    watcher.sent = list
    subscriber.send('containers-state-list', { prefix: filter.prefix, containers: list })
  }

  private leave(subscriber: Subscriber<'node'>): void {
    for (const [key, watcher] of this.watchers) if (watcher.subscriber === subscriber) this.watchers.delete(key)
    if (this.watchers.size > 0 || this.closed) return
    this.closed = true
    clearTimeout(this.timer)
    clearTimeout(this.retry)
    for (const unsubscribe of this.unsubscribes) unsubscribe()
    this.stream?.close()
    this.unused()
  }
}

const toKey = (container: AgentContainer) =>
  container.engineId || `${container.ref?.prefix ?? ''}/${container.ref?.name ?? ''}`

const isOfProject = ({ labels }: Container, { projectId }: StateFilter) =>
  !projectId || labels['dev.crux.project'] === projectId

/** An unchanged container is the same object as before. */
const isSame = (before: Container[], after: Container[]) =>
  before.length === after.length && before.every((container, index) => container === after[index])

import { type Container, ContainerState } from '@crux/agent-protocol'
import { guarded, inBackground, type Logger, withinTime } from '@crux/service-kit'
import { pause } from '../../../concurrency/pause.ts'
import { EngineError, getMessage } from '../../../errors.ts'
import type { EngineEvent } from '../../engine.ts'
import { isSameContainer } from '../../is-same-container.ts'
import { label } from '../../labels.ts'
import { nameOnEngine } from '../../names.ts'
import type { Cluster, ClusterObject, ListFilter } from '../cluster/cluster.ts'
import type { Capacity } from '../machines/machine.ts'
import { type AddressKind, addressKinds, isAddressKind } from './external-addresses.ts'
import type { PodRecord, WorkloadRecord } from './records.ts'
import { isWatchedKind, type WatchedKind, WorkloadIndex, watchedKinds } from './workload-index.ts'

/** The pause after a list or a watch that failed: a missing right may be granted. */
const retryMs = 1_000
const retryMsMax = 30_000
/** A page must not wait longer for the first list. */
const listedMs = 20_000

/**
 * The workloads of the cluster as this process knows them: each kind is listed once and then followed by one watch, which all callers share.
 * What this process changes itself is known at once, without waiting for the watch.
 */
export class WorkloadWatch {
  readonly #cluster: Pick<Cluster, 'pages' | 'watch'>
  readonly #log: Logger
  readonly #index = new WorkloadIndex()
  readonly #rows = new Map<string, Container>()
  readonly #listed = new Set<WatchedKind>()
  readonly #failures = new Map<WatchedKind, unknown>()
  /** Kinds of addresses that cannot be watched: rows are shown without them. */
  readonly #missing = new Set<AddressKind>()
  readonly #listeners = new Set<(event: EngineEvent) => void>()
  readonly #closing = new AbortController()
  #wakeWaiting: () => void = () => undefined

  constructor(cluster: Pick<Cluster, 'pages' | 'watch'>, log: Logger) {
    this.#cluster = cluster
    this.#log = log
    for (const kind of [...watchedKinds, ...addressKinds])
      inBackground(`watching ${kind} objects`, () => this.#run(kind))
  }

  /** All rows, the newest first. @throws EngineError of a list or watch that fails, `unavailable` while there is no list yet */
  async rows(): Promise<Container[]> {
    await this.#whenListed()
    return [...this.#rows.values()].sort(
      (left, right) => Number(right.createdAt?.seconds ?? 0n) - Number(left.createdAt?.seconds ?? 0n),
    )
  }

  async row(id: string): Promise<Container | undefined> {
    await this.#whenListed()
    return this.#rows.get(id)
  }

  /** What the pods on each machine have requested. @throws as `rows` */
  async sumRequests(): Promise<ReadonlyMap<string, Capacity>> {
    await this.#whenListed()
    return this.#index.sumRequests()
  }

  workload(id: string): WorkloadRecord | undefined {
    return this.#index.get(id)
  }

  listPods(id: string): PodRecord[] {
    return this.#index.listPods(id)
  }

  /** Stores an object that this process has just read or changed. */
  store(object: ClusterObject): void {
    if (isWatchedKind(object.kind)) this.#change(this.#index.set(object.kind, object))
  }

  /** Forgets a workload that this process has just deleted. */
  forget(id: string): void {
    const workload = this.#index.get(id)
    if (workload) this.#change(this.#index.delete(workload.kind, id))
  }

  readonly subscribe = (given: (event: EngineEvent) => void): (() => void) => {
    const listener = guarded('a listener for events of the cluster', given)
    this.#listeners.add(listener)
    if (this.#isListed)
      queueMicrotask(
        guarded('a listener for events of the cluster', () => {
          if (this.#listeners.has(listener)) listener({ kind: 'relist' })
        }),
      )
    return () => this.#listeners.delete(listener)
  }

  close(): void {
    this.#closing.abort()
    this.#wakeWaiting()
  }

  get #isListed(): boolean {
    return watchedKinds.every((kind) => this.#listed.has(kind))
  }

  async #whenListed(): Promise<void> {
    const deadline = Date.now() + listedMs
    while (!this.#isListed || this.#failures.size > 0) {
      for (const failure of this.#failures.values()) throw failure
      const rest = deadline - Date.now()
      if (rest <= 0 || this.#closing.signal.aborted)
        throw new EngineError('unavailable', "The cluster's workloads are not listed yet")
      const { promise, resolve } = Promise.withResolvers<void>()
      const wakeOthers = this.#wakeWaiting
      this.#wakeWaiting = () => {
        wakeOthers()
        resolve()
      }
      await withinTime(promise, rest, () => undefined)
    }
  }

  #wake(): void {
    const wake = this.#wakeWaiting
    this.#wakeWaiting = () => undefined
    wake()
  }

  async #run(kind: WatchedKind): Promise<void> {
    const { signal } = this.#closing
    let waitMs = retryMs
    while (!signal.aborted) {
      try {
        for await (const event of this.#cluster.watch(kind, toFilter(kind), signal)) {
          if (event.type === 'relist') await this.#list(kind)
          else if (event.type === 'deleted') this.#change(this.#index.delete(kind, event.object.uid))
          else this.#change(this.#index.set(kind, event.object))
          waitMs = retryMs
        }
      } catch (error) {
        if (signal.aborted) return
        if (isAddressKind(kind)) this.#loseAddresses(kind, error)
        else this.#fail(kind, error)
      }
      await pause(waitMs, signal).catch(() => undefined)
      waitMs = Math.min(retryMsMax, waitMs * 2)
    }
  }

  #fail(kind: WatchedKind, error: unknown): void {
    if (!this.#failures.has(kind)) this.#log.warn({ kind, reason: getMessage(error) }, 'workloads cannot be listed')
    this.#failures.set(kind, error)
    this.#wake()
  }

  /** Addresses that may have changed since are not shown. */
  #loseAddresses(kind: AddressKind, error: unknown): void {
    if (!this.#missing.has(kind))
      this.#log.warn({ kind, reason: getMessage(error) }, 'addresses of load balancers and ingresses are not shown')
    this.#missing.add(kind)
    this.#change(this.#index.keepOnly(kind, new Set()))
  }

  async #list(kind: WatchedKind): Promise<void> {
    if (isAddressKind(kind)) return this.#listAddresses(kind)
    const uids = new Set<string>()
    for await (const { isFirst, objects } of this.#cluster.pages(kind, {})) {
      if (isFirst) uids.clear()
      for (const object of objects) {
        uids.add(object.uid)
        this.#index.set(kind, object)
      }
    }
    this.#index.keepOnly(kind, uids)
    this.#listed.add(kind)
    this.#failures.delete(kind)
    if (!this.#isListed) return
    const ids = this.#index.ids()
    for (const id of this.#rows.keys()) if (!ids.has(id)) this.#rows.delete(id)
    for (const id of ids) {
      const row = this.#index.toRow(id)
      const before = this.#rows.get(id)
      if (row && !(before && isSameContainer(before, row))) this.#rows.set(id, row)
    }
    this.#emit({ kind: 'relist' })
    this.#wake()
  }

  async #listAddresses(kind: AddressKind): Promise<void> {
    const uids = new Set<string>()
    const changed: string[] = []
    for await (const { isFirst, objects } of this.#cluster.pages(kind, toFilter(kind))) {
      if (isFirst) uids.clear()
      for (const object of objects) {
        uids.add(object.uid)
        changed.push(...this.#index.set(kind, object))
      }
    }
    this.#missing.delete(kind)
    this.#change([...new Set([...changed, ...this.#index.keepOnly(kind, uids)])])
  }

  #change(ids: readonly string[]): void {
    // Before everything is listed, a workload would seem to have no pods.
    if (!this.#isListed) return
    for (const id of ids) this.#changeRow(id)
  }

  #changeRow(id: string): void {
    const before = this.#rows.get(id)
    const row = this.#index.toRow(id)
    if (!row) {
      this.#rows.delete(id)
      if (before) this.#emit(toEvent('destroy', before))
      return
    }
    if (before && isSameContainer(before, row)) return
    this.#rows.set(id, row)
    if (!before) this.#emit(toEvent('create', row))
    // Watchers show `start` as a start, so it is sent for a container that began to run, not for each change of one that runs.
    const isStart =
      row.state === ContainerState.RUNNING &&
      (before?.state !== ContainerState.RUNNING || before.startedAt?.seconds !== row.startedAt?.seconds)
    if (isStart) this.#emit(toEvent('start', row))
    else if (before) this.#emit(toEvent('update', row))
  }

  #emit(event: EngineEvent): void {
    for (const listener of this.#listeners) listener(event)
  }
}

/** Clusters have many Services, of which only ours are shown. */
const toFilter = (kind: WatchedKind): ListFilter => (isAddressKind(kind) ? { labels: { [label.team]: undefined } } : {})

const toEvent = (action: string, { engineId, labels, ref }: Container): EngineEvent => ({
  kind: 'container',
  action,
  id: engineId,
  name: nameOnEngine(ref ?? { prefix: '', name: '' }),
  labels,
})

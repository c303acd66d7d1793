import { guarded } from '@crux/service-kit'
import { guardedTimer } from '../../../concurrency/pause.ts'
import { isEngineError } from '../../../errors.ts'
import type { LogChunkLine, LogRequest } from '../../engine.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { LogRedactor } from './log-redactor.ts'
import { openLogsOfPods } from './logs-of-pods.ts'
import { isAfter, type Moment, mergeInOrder } from './merge-lines.ts'
import type { PodRecord } from './records.ts'
import type { WorkloadWatch } from './workload-watch.ts'

const retryMs = 250
const retryMsMax = 10_000

type LogCluster = Pick<Cluster, 'readLog'>
export type PodSource = Pick<WorkloadWatch, 'listPods' | 'workload' | 'row' | 'subscribe'>

interface LogSubject {
  cluster: LogCluster
  watch: PodSource
  id: string
  redactor: Pick<LogRedactor, 'include' | 'redact'>
  /** How long the first lines of one of several pods may take. */
  firstLinesMs?: number
}

/** One pod in place of its workload: a log of it ends when the pod is gone. */
export function onlyPod(watch: PodSource, name: string): PodSource {
  const listPods = (id: string) => watch.listPods(id).filter((pod) => pod.name === name)
  return {
    listPods,
    row: async (id) => (listPods(id).length > 0 ? watch.row(id) : undefined),
    workload: () => undefined,
    subscribe: watch.subscribe,
  }
}

/** The logs of all pods of a workload as one, in the order of time. A line has its pod's name in front when the workload has several. */
export async function* readWorkloadLog(subject: LogSubject, request: LogRequest): AsyncGenerator<LogChunkLine[]> {
  const last = new Map<string, Moment>()
  yield* readSoFar(subject, request, last)
  if (!request.follow || request.signal?.aborted) return
  const follower = new LogFollower(subject, request, last)
  yield* follower.lines()
}

async function* readSoFar(
  subject: LogSubject,
  { signal, since, take }: LogRequest,
  last: Map<string, Moment>,
): AsyncGenerator<LogChunkLine[]> {
  const { id, redactor, watch } = subject
  const pods = watch.listPods(id)
  const prefix = toPrefix(watch, id)
  await redactor.include(pods)
  const open = (pod: PodRecord, ending: AbortSignal) =>
    remember(readRedacted(subject, pod, { take, follow: false, since, signal: ending }), pod, last, prefix)
  const merged = mergeInOrder(openLogsOfPods(pods, open, { signal, waitMs: subject.firstLinesMs }))
  if (take === undefined) return yield* merged
  // Any pod may have all of the last lines.
  let tail: LogChunkLine[] = []
  for await (const lines of merged) tail = [...tail, ...lines].slice(-take)
  if (tail.length > 0 && take > 0) yield tail
}

/** The values of the pod's secrets were read before. */
async function* readRedacted(
  { cluster, redactor }: LogSubject,
  pod: PodRecord,
  request: LogRequest,
): AsyncGenerator<LogChunkLine[]> {
  for await (const lines of readPod(cluster, pod, request)) yield redactor.redact(lines)
}

/** Keeps the time of each pod's last line, and adds the pod's name where the workload has several. */
async function* remember(
  log: AsyncIterable<LogChunkLine[]>,
  pod: PodRecord,
  last: Map<string, Moment>,
  prefix: (pod: PodRecord) => string,
): AsyncGenerator<LogChunkLine[]> {
  const shown = prefix(pod)
  for await (const lines of log) {
    const end = lines.at(-1)
    if (end) last.set(pod.uid, { seconds: end.seconds, nanos: end.nanos })
    yield shown === '' ? lines : lines.map((line) => ({ ...line, text: `${shown}${line.text}` }))
  }
}

/** Pods of a Deployment that replace each other are one instance of the workload; those of a Job may run beside each other. */
function toPrefix(watch: PodSource, id: string): (pod: PodRecord) => string {
  const workload = watch.workload(id)
  const isSeveral = (workload?.replicas ?? 0) > 1 || (workload?.kind !== 'Deployment' && watch.listPods(id).length > 1)
  return ({ name }) => (isSeveral ? `${name} ` : '')
}

/** What a pod has logged until now: the container before the last restart, then the current one. A log that is gone is empty. */
async function* readPod(
  cluster: LogCluster,
  { container, name, namespace, restarts }: PodRecord,
  request: LogRequest,
): AsyncGenerator<LogChunkLine[]> {
  const current = read(cluster, { namespace, name, container }, request)
  if (restarts === 0) return yield* current
  const before = read(cluster, { namespace, name, container, previous: true }, { ...request, follow: false })
  if (request.follow) {
    // The current container may say nothing for long. Lines that arrive twice are dropped by their times.
    yield* before
    return yield* current
  }
  try {
    const first = await current.next()
    const start = first.done ? undefined : first.value[0]
    for await (const lines of before) {
      // A container that waits for its next start is the previous one and the current one.
      const older = start ? lines.filter((line) => isAfter(start, line)) : lines
      if (older.length > 0) yield older
    }
    if (first.done) return
    yield first.value
    yield* current
  } finally {
    await current.return(undefined)
  }
}

async function* read(
  cluster: LogCluster,
  pod: Parameters<Cluster['readLog']>[0],
  request: LogRequest,
): AsyncGenerator<LogChunkLine[]> {
  try {
    yield* cluster.readLog(pod, request)
  } catch (error) {
    if (!isEngineError(error, 'not-found')) throw error
  }
}

type Delivery =
  | { pod: PodRecord; lines: LogChunkLine[] }
  | { pod: PodRecord; ended: 'well' | 'unavailable' }
  | 'changed'

/**
 * Follows the logs of a workload's pods, also of pods that appear later and of containers that start again, until the workload is gone or the
 * signal aborts. A log that is interrupted continues after its last line.
 */
class LogFollower {
  readonly #subject: LogSubject
  readonly #request: LogRequest
  readonly #last: Map<string, Moment>
  /** By pod: its open log, and the delivery that is awaited of it. */
  readonly #open = new Map<string, { log: AsyncGenerator<LogChunkLine[]>; next: Promise<Delivery> }>()
  /** By pod: the state that its log was last opened in. It is opened again in another one. */
  readonly #seen = new Map<string, string>()
  readonly #abort = new AbortController()
  #wake: () => void = () => undefined
  #isWoken = false
  #waitMs = retryMs
  #retry: NodeJS.Timeout | undefined

  constructor(subject: LogSubject, request: LogRequest, last: Map<string, Moment>) {
    this.#subject = subject
    this.#request = request
    this.#last = last
    for (const pod of subject.watch.listPods(subject.id))
      if (pod.state === 'exited') this.#seen.set(pod.uid, toSeen(pod))
  }

  async *lines(): AsyncGenerator<LogChunkLine[]> {
    const { id, watch } = this.#subject
    const { signal } = this.#request
    const wake = guarded('following a log', () => {
      this.#isWoken = true
      this.#wake()
    })
    const unsubscribe = watch.subscribe((event) => {
      if (event.kind === 'relist' || event.id === id) wake()
    })
    const stop = guarded('following a log', () => {
      this.#abort.abort()
      wake()
    })
    signal?.addEventListener('abort', stop, { once: true })
    try {
      while (!signal?.aborted) {
        await this.#openLogs()
        const isGone = this.#open.size === 0 && !(await watch.row(id).catch(() => true))
        if (isGone) return
        const delivery = await Promise.race([...[...this.#open.values()].map(({ next }) => next), this.#nextChange()])
        if (delivery !== 'changed') yield* this.#receive(delivery)
      }
    } finally {
      clearTimeout(this.#retry)
      signal?.removeEventListener('abort', stop)
      unsubscribe()
      this.#abort.abort()
      await Promise.allSettled([...this.#open.values()].map(({ log }) => log.return(undefined)))
    }
  }

  async #openLogs(): Promise<void> {
    const { id, watch } = this.#subject
    for (const pod of watch.listPods(id)) {
      if (this.#open.has(pod.uid) || this.#seen.get(pod.uid) === toSeen(pod)) continue
      this.#seen.set(pod.uid, toSeen(pod))
      const since = this.#last.get(pod.uid) ?? this.#request.since
      const log = this.#read(pod, since)
      this.#open.set(pod.uid, { log, next: deliver(pod, log) })
    }
  }

  /** Containers that start later may have other secrets than those that run. */
  async *#read(pod: PodRecord, since: LogRequest['since']): AsyncGenerator<LogChunkLine[]> {
    await this.#subject.redactor.include([pod])
    yield* readRedacted(this.#subject, pod, { take: undefined, follow: true, since, signal: this.#abort.signal })
  }

  *#receive(delivery: Exclude<Delivery, 'changed'>): Generator<LogChunkLine[]> {
    const { pod } = delivery
    const open = this.#open.get(pod.uid)
    if ('ended' in delivery) {
      this.#open.delete(pod.uid)
      if (delivery.ended === 'unavailable') this.#retryLater(pod)
      return
    }
    if (open) open.next = deliver(pod, open.log)
    this.#waitMs = retryMs
    const mark = this.#last.get(pod.uid)
    const fresh = mark ? delivery.lines.filter((line) => isAfter(line, mark)) : delivery.lines
    const end = fresh.at(-1)
    if (!end) return
    this.#last.set(pod.uid, { seconds: end.seconds, nanos: end.nanos })
    const prefix = toPrefix(this.#subject.watch, this.#subject.id)(pod)
    yield prefix === '' ? fresh : fresh.map((line) => ({ ...line, text: `${prefix}${line.text}` }))
  }

  #retryLater(pod: PodRecord): void {
    // The log would be opened at once otherwise: its pod looks as before.
    this.#seen.set(pod.uid, toSeen(pod))
    clearTimeout(this.#retry)
    this.#retry = guardedTimer('following a log again', this.#waitMs, () => {
      for (const { uid } of this.#subject.watch.listPods(this.#subject.id))
        if (!this.#open.has(uid)) this.#seen.delete(uid)
      this.#isWoken = true
      this.#wake()
    })
    this.#waitMs = Math.min(retryMsMax, this.#waitMs * 2)
  }

  #nextChange(): Promise<Delivery> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#isWoken = false
        resolve('changed')
      }
      if (this.#isWoken) this.#wake()
    })
  }
}

/** A container that starts again writes a new log. */
const toSeen = ({ restarts, startedAt, state }: PodRecord): string => `${state} ${restarts} ${startedAt ?? ''}`

async function deliver(pod: PodRecord, log: AsyncGenerator<LogChunkLine[]>): Promise<Delivery> {
  try {
    const { done, value } = await log.next()
    return done ? { pod, ended: 'well' } : { pod, lines: value }
  } catch (error) {
    if (isEngineError(error, 'unavailable') || isEngineError(error, 'conflict')) return { pod, ended: 'unavailable' }
    throw error
  }
}

import type { Logger } from '@crux/service-kit'
import { EngineError } from '../../../errors.ts'
import type { ContainerView, FoundContainer, LogChunkLine, LogRequest } from '../../engine.ts'
import { label } from '../../labels.ts'
import { nameOnEngine } from '../../names.ts'
import type { Cluster, ClusterObject, ObjectRef } from '../cluster/cluster.ts'
import type { Capacity } from '../machines/machine.ts'
import { operateWorkload, removeWorkload } from './change-workload.ts'
import { describeWorkload } from './inspection.ts'
import { LogRedactor } from './log-redactor.ts'
import { isOurs } from './records.ts'
import { onlyPod, readWorkloadLog } from './workload-log.ts'
import { WorkloadWatch } from './workload-watch.ts'

export interface WorkloadView extends ContainerView {
  /** Ids of all workloads of Crux whose labels match, read from the cluster. */
  listOwned(matches: (labels: Readonly<Record<string, string>>) => boolean): Promise<string[]>
  /** What the pods on each machine have requested, by its name. @throws EngineError while pods cannot be listed */
  sumRequests(): Promise<ReadonlyMap<string, Capacity>>
  close(): void
}

/** The workloads of a cluster as the containers of a node: one for each Deployment and Job, and one for whatever other programs run. */
export function createWorkloadView(cluster: Cluster, log: Logger): WorkloadView {
  const watch = new WorkloadWatch(cluster, log)
  const getRef = (id: string): ObjectRef | undefined => watch.workload(id)
  const requireRef = (id: string): ObjectRef => {
    const ref = getRef(id)
    if (!ref) throw new EngineError('not-found', 'There is no such workload any more')
    return ref
  }
  return {
    async list({ prefix }) {
      await cluster.assertAvailable()
      const rows = await watch.rows()
      return prefix === undefined ? rows : rows.filter(({ labels }) => labels[label.prefix] === prefix)
    },
    async view(ids) {
      const rows = await Promise.all(ids.map((id) => watch.row(id)))
      return rows.flatMap((row) => row ?? [])
    },
    find: (ref) => (ref.prefix === '' ? findByFullName(watch, ref.name) : findOwn(cluster, watch, ref)),
    async inspect(id) {
      const ref = getRef(id)
      const workload = ref && (await cluster.get(ref))
      const pods = await readPods(cluster, watch, id)
      if (!workload && pods.length === 0) throw new EngineError('not-found', 'There is no such workload any more')
      return describeWorkload(workload, pods)
    },
    async operate(id, operation) {
      watch.store(await operateWorkload(cluster, requireRef(id), id, operation))
    },
    async remove(id) {
      const ref = getRef(id)
      if (!ref) return
      await removeWorkload(cluster, ref, id)
      watch.forget(id)
    },
    readLog: (id, request) => readRedactedLog(cluster, watch, id, request),
    subscribe: watch.subscribe,
    async listOwned(matches) {
      const owned: string[] = []
      for (const kind of ['Deployment', 'Job'] as const)
        for await (const { objects } of cluster.pages(kind, { labels: { [label.team]: undefined } }))
          for (const object of objects.filter((one) => isOurs(one) && matches(one.labels))) {
            watch.store(object)
            owned.push(object.uid)
          }
      return [...new Set(owned)]
    },
    sumRequests: () => watch.sumRequests(),
    close: () => watch.close(),
  }
}

/** Reads the cluster itself: a workload that was just created must be found. */
async function findOwn(
  cluster: Pick<Cluster, 'list'>,
  watch: WorkloadWatch,
  { name, prefix }: { name: string; prefix: string },
): Promise<FoundContainer | undefined> {
  // Anything else is no namespace, and would be another path of the API.
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(prefix)) return undefined
  const filter = { namespace: prefix, labels: { [label.prefix]: prefix } }
  const [deployments, jobs] = await Promise.all([cluster.list('Deployment', filter), cluster.list('Job', filter)])
  const isNamed = (object: ClusterObject) => isOurs(object) && (object.labels[label.name] ?? object.name) === name
  // Jobs of several releases have one container name: the newest is the container.
  const [found] = [
    ...deployments.objects,
    ...jobs.objects.sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime()),
  ].filter(isNamed)
  if (!found) return undefined
  watch.store(found)
  return { id: found.uid, labels: found.labels }
}

async function findByFullName(watch: WorkloadWatch, name: string): Promise<FoundContainer | undefined> {
  const row = (await watch.rows()).find(({ ref }) => ref && nameOnEngine(ref) === name)
  return row && { id: row.engineId, labels: row.labels }
}

async function readPods(cluster: Pick<Cluster, 'get'>, watch: WorkloadWatch, id: string): Promise<ClusterObject[]> {
  const pods = await Promise.all(
    watch.listPods(id).map(({ name, namespace }) => cluster.get({ kind: 'Pod', namespace, name })),
  )
  return pods.flatMap((pod) => pod ?? [])
}

async function* readRedactedLog(
  cluster: Cluster,
  watch: WorkloadWatch,
  id: string,
  request: LogRequest,
): AsyncGenerator<LogChunkLine[]> {
  if (!(await watch.row(id)) && !watch.workload(id))
    throw new EngineError('not-found', 'There is no such workload any more')
  const { pod } = request
  if (pod !== undefined && !watch.listPods(id).some(({ name }) => name === pod))
    throw new EngineError('not-found', `There is no pod ${pod} any more`)
  const source = pod === undefined ? watch : onlyPod(watch, pod)
  const redactor = new LogRedactor(cluster, () => watch.workload(id))
  yield* readWorkloadLog({ cluster, watch: source, id, redactor }, request)
}

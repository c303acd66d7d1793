import type { Release } from '@crux/agent-protocol'
import { isOfRelease, isOwnedBy, label } from '../../labels.ts'
import { fullName } from '../../names.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { judgeDeployment } from './judge.ts'
import type { ReleasePlan } from './release-plan.ts'

/** Whether the workloads that existed before a release exist and are ready now: those that it replaces, or any of an earlier release. */
export async function previousWorkloadsRun(
  cluster: Pick<Cluster, 'list'>,
  release: Release,
  plan?: ReleasePlan,
): Promise<boolean> {
  const { owner, previous } = release
  if (!owner) return false
  const list = async (kind: 'Deployment' | 'Pod' | 'ReplicaSet') =>
    (await cluster.list(kind, { namespace: owner.prefix })).objects
  const [deployments, pods, replicaSets] = await Promise.all([list('Deployment'), list('Pod'), list('ReplicaSet')])
  const names = new Set(previous.map(({ containerName }) => containerName))
  const replaced = new Set(
    plan?.workloads.flatMap(({ kind, mode, name }) => (kind === 'Deployment' && mode !== 'first' ? [name] : [])),
  )
  const own = deployments.filter(
    ({ labels, name }) =>
      isOwnedBy({ ...labels }, owner) &&
      !isOfRelease({ ...labels }, release.key) &&
      (replaced.has(name) || names.has(fullName(owner.prefix, labels[label.name] ?? name))),
  )
  const ready = own.filter((workload) => {
    const known = { generation: workload.generation, ranBefore: true }
    return judgeDeployment({ workload, pods, replicaSets, events: [] }, known).kind === 'ready'
  })
  if (replaced.size > 0) return [...replaced].every((name) => ready.some((workload) => workload.name === name))
  return ready.length > 0
}

import type { DesiredWorkload } from './desired-workload.ts'

/**
 * The order of a rollout, as ids of instances that go together: in the version's order, where one that names an expected state or a health
 * check is verified before what follows it starts.
 */
export function toRolloutStages(workloads: readonly Pick<DesiredWorkload, 'instanceId' | 'holdsBack'>[]): string[][] {
  const stages: string[][] = [[]]
  for (const { holdsBack, instanceId } of workloads) {
    stages.at(-1)?.push(instanceId)
    if (holdsBack) stages.push([])
  }
  return stages.filter((stage) => stage.length > 0)
}

import { expect, test } from 'vitest'
import { makeRelease } from '../../../../test/kit/releases.ts'
import { toDesiredWorkload } from '../plan/desired-workload.ts'
import { toManifests } from '../plan/manifests.ts'
import { withPlannedNames } from './release-plan.ts'

test('a release that an earlier agent has planned goes on with the Job of that plan', () => {
  const release = makeRelease({
    owner: { teamId: 'team', projectId: 'project', nodeId: 'node', prefix: 'demo' },
    instances: [
      { instanceId: 'job', image: 'app:1', config: { name: 'migrate', expectedState: { state: 'exited' } } },
      { instanceId: 'web', image: 'app:1', config: { name: 'web' } },
    ],
  })
  const workloads = release.instances.map((instance) => {
    const desired = toDesiredWorkload(release, instance, {})
    const manifests = toManifests(desired, { release, digest: undefined, secrets: {}, auth: undefined })
    return { instanceId: instance.instanceId, desired, manifests }
  })
  const planned = { kind: 'Job' as const, instanceId: 'job', name: 'migrate-1', mode: 'first' as const, objects: [] }
  const names = withPlannedNames(workloads, { workloads: [planned] }).map(
    ({ manifests: { workload } }) => workload.metadata.name,
  )
  expect(names).toEqual(['migrate-1', 'web'])
})

import { kubernetesMissing } from '@crux/test-kit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { listConfigRefs } from '../src/engines/kubernetes/cluster/config-refs.ts'
import { revisionHistoryLimit } from '../src/engines/kubernetes/plan/workload.ts'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { getPath } from './kit/cluster-objects.ts'
import { serve } from './kit/cluster-scripts.ts'
import { createReleaseSequence } from './kit/release-sequence.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()
/** The current revision, those that the cluster keeps besides it, and one that it deletes. */
const releases = revisionHistoryLimit + 2

describe.skipIf(missing)('more releases than the cluster keeps revisions', () => {
  let agent: ClusterAgent
  beforeEach(async () => {
    agent = await startClusterAgent()
  })
  afterEach(() => agent.dispose())

  const getValue = (object: Parameters<typeof getPath>[0]) => Number(getPath(object, 'data', 'VALUE'))

  test.each([0, 1])(
    'leave the environments of the kept revisions, and the oldest can be rolled back to, with %i replicas',
    async (replicas) => {
      const { deploySuccessfully } = createReleaseSequence(agent)
      for (let value = 1; value <= releases; value += 1)
        await deploySuccessfully({ ...serve('x'), replicas, environment: [{ key: 'VALUE', value: String(value) }] })
      const replicaSets = await waitUntil('the cluster deletes the oldest revision', async () => {
        const found = await agent.list('ReplicaSet')
        return found.length === releases - 1 ? found : undefined
      })
      const named = replicaSets.flatMap(listConfigRefs).map(({ name }) => name)
      const maps = (await agent.list('ConfigMap')).filter(({ name }) => name.startsWith('web'))
      expect(maps.map(({ name }) => name).sort()).toEqual(named.sort())
      expect(Math.min(...maps.map(getValue))).toBe(2)
      const oldest = maps.find((map) => getValue(map) === 2)
      const revision = replicaSets.find((one) => listConfigRefs(one).some(({ name }) => name === oldest?.name))
      // As `kubectl rollout undo` does.
      await agent.admin.json({
        method: 'PATCH',
        path: `/apis/apps/v1/namespaces/${agent.owner.prefix}/deployments/web`,
        contentType: 'application/merge-patch+json',
        body: { spec: { replicas: 1, template: getPath(revision, 'spec', 'template') } },
      })
      await waitUntil(
        'the pod of the oldest revision runs',
        async () => getPath(await agent.get('Deployment', 'web'), 'status', 'availableReplicas') === 1,
        30_000,
      )
    },
    120_000,
  )
})

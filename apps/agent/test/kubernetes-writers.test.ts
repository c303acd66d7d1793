import { kubernetesMissing } from '@crux/test-kit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { getPath } from './kit/cluster-objects.ts'
import { shell } from './kit/cluster-scripts.ts'
import { createReleaseSequence, type ReleaseSequence } from './kit/release-sequence.ts'
import { waitUntil } from './kit/wait-until.ts'

const volumes = [{ name: 'data', path: '/data', type: 'rwo' as const, size: '10Mi' }]
/** A program that has a file of the volume as long as it runs, and fails when another one has it. */
const hold = 'mkdir /data/lock || exit 9'
const server = shell(
  `${hold}; trap 'sleep 1; rmdir /data/lock; exit 0' TERM; echo holding; while true; do sleep 0.1; done`,
)
const exited = { expectedState: { state: 'exited' as const, timeout: 60 } }

describe.skipIf(kubernetesMissing())('a volume that one pod may write', () => {
  let agent: ClusterAgent
  let sequence: ReleaseSequence
  beforeEach(async () => {
    agent = await startClusterAgent()
    sequence = createReleaseSequence(agent, { config: { volumes } })
  })
  afterEach(() => agent.dispose())

  test('is left by the pod of a Deployment before the Job writes that replaces it', async () => {
    await sequence.deploySuccessfully(server)
    await sequence.deploySuccessfully({ ...shell(hold), ...exited })
    expect(await agent.list('Deployment')).toEqual([])
  })

  test('goes back to the pod of the Deployment when the Job that replaces it fails', async () => {
    await sequence.deploySuccessfully(server)
    const job = shell(`${hold}; trap 'sleep 2; rmdir /data/lock; exit 0' TERM; sleep 1; rmdir /data/lock; exit 3`)
    expect(await sequence.deploy({ ...job, ...exited })).toMatchObject({
      successful: false,
      reason: 'the container ended with exit code 3, expected was 0',
      previousRestored: true,
    })
    expect(await agent.list('Job')).toEqual([])
    const deployment = await agent.get('Deployment', 'web')
    expect(deployment?.labels['dev.crux.release']).toBe('1')
    expect(getPath(deployment, 'spec', 'replicas')).toBe(1)
    const [pod] = await agent.pods()
    expect(getPath(pod, 'status', 'containerStatuses', '0', 'restartCount')).toBe(0)
  })

  test('is left by the pod of a Deployment also where the agent restarts meanwhile', async () => {
    await sequence.deploySuccessfully(
      shell(`${hold}; trap 'sleep 5; rmdir /data/lock; exit 0' TERM; sleep 1000 & wait`),
    )
    const release = sequence.toRelease({ ...shell(hold), ...exited })
    agent.server.deploy(release)
    await waitUntil(
      'the Deployment is stopped',
      async () => getPath(await agent.get('Deployment', 'web'), 'spec', 'replicas') === 0,
    )
    expect(await agent.list('Job')).toEqual([])
    await agent.restartAgent()
    expect(await agent.server.getOutcome(release)).toMatchObject({ successful: true, reason: '' })
    expect(await agent.list('Deployment')).toEqual([])
  })

  test('is left by the pod of a cancelled Job before the next one writes', async () => {
    const job = shell(`${hold}; trap 'sleep 3; rmdir /data/lock; exit 0' TERM; while true; do sleep 0.1; done`)
    const cancelled = sequence.toRelease({ ...job, ...exited })
    agent.server.deploy(cancelled)
    await waitUntil('the Job runs', async () =>
      (await agent.pods()).some((pod) => getPath(pod, 'status', 'phase') === 'Running'),
    )
    agent.server.send({ case: 'cancelDeployment', value: { release: cancelled.key } })
    expect(await agent.server.getOutcome(cancelled)).toMatchObject({ cancelled: true })
    await sequence.deploySuccessfully({ ...shell(hold), ...exited })
  })
})

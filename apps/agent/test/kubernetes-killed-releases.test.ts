import type { Release } from '@crux/agent-protocol'
import { kubernetesMissing } from '@crux/test-kit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { getPath } from './kit/cluster-objects.ts'
import { ports, serve, shell } from './kit/cluster-scripts.ts'
import { createReleaseSequence, type ReleaseSequence } from './kit/release-sequence.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()
const slowMs = 60_000
/** So many that they are not created at once. */
const others = Array.from({ length: 20 }, (_, index) => ({
  config: { name: `other-${index}`, ...serve('other'), environment: [{ key: 'NUMBER', value: String(index) }] },
}))
const healthCheckConfig = { readinessProbe: '/', port: 8080 }
/** Fails once it runs. */
const broken = { ...shell('exit 3'), ports, healthCheckConfig, environment: [{ key: 'TEXT', value: 'broken' }] }

describe.skipIf(missing)('a release on Kubernetes whose agent is killed', () => {
  let agent: ClusterAgent
  let sequence: ReleaseSequence
  let spawned: ReturnType<ClusterAgent['spawnAgent']>
  beforeEach(async () => {
    agent = await startClusterAgent()
    sequence = createReleaseSequence(agent)
    await agent.stopAgent()
    await start()
  })
  afterEach(async () => {
    spawned.child.kill('SIGKILL')
    await spawned.exited
    await agent.dispose()
  })

  async function start() {
    const links = agent.server.links.length
    spawned = agent.spawnAgent()
    await waitUntil('the agent connects', () => agent.server.links.length > links && agent.server.connected, slowMs)
  }
  async function killAndStart() {
    spawned.child.kill('SIGKILL')
    await spawned.exited
    await start()
  }
  const toBroken = (): Release =>
    sequence.toRelease(
      {},
      { instances: [{ instanceId: sequence.instanceId, config: { name: 'web', ...broken } }, ...others] },
    )
  const getTemplate = async () =>
    JSON.stringify(getPath(await agent.get('Deployment', 'web'), 'spec', 'template') ?? '')

  /** Only the first release is there, and its container answers. */
  async function expectPrevious() {
    await agent.waitForAnswer('one')
    expect((await agent.list('Deployment')).map(({ name }) => name)).toEqual(['web'])
    const values = (await agent.list('ConfigMap')).flatMap((map) => getPath(map, 'data', 'TEXT') ?? [])
    expect(values).toContain('first')
    await waitUntil('other pods are gone', async () => (await agent.list('Pod')).length === 1, slowMs)
  }
  const isRestored = { successful: false, reason: 'the container ended with exit code 3', previousRestored: true }
  const first = { ...serve('one'), ports, environment: [{ key: 'TEXT', value: 'first' }] }

  test.each([
    ['creates its first objects', async () => (await agent.list('ConfigMap')).length > 2],
    ['starts its containers', async () => (await getTemplate()).includes('exit 3')],
  ])(
    'while it %s goes on, and its failure brings the previous one back',
    async (_, hasBegun) => {
      await sequence.deploySuccessfully(first)
      const release = toBroken()
      agent.server.deploy(release)
      await waitUntil('it has begun', hasBegun, slowMs)
      await killAndStart()
      expect(await agent.server.getOutcome(release, slowMs)).toMatchObject(isRestored)
      await expectPrevious()
    },
    180_000,
  )

  test('while it is undone brings the previous one back, with the reason from before', async () => {
    // Its pods come back late, so that the agent waits for them.
    const probed = { ...healthCheckConfig, startPeriodSeconds: 4 }
    await sequence.deploySuccessfully({ ...first, healthCheckConfig: probed, deploymentStrategy: 'recreate' })
    const release = sequence.toRelease({ ...broken, deploymentStrategy: 'recreate' })
    agent.server.deploy(release)
    await waitUntil('the new pods come', async () => (await getTemplate()).includes('exit 3'), slowMs)
    await waitUntil('it is being undone', async () => (await getTemplate()).includes('echo one'), slowMs)
    await killAndStart()
    expect(await agent.server.getOutcome(release, slowMs)).toMatchObject(isRestored)
    await expectPrevious()
  }, 180_000)

  test.each([
    ['a node', { resourceConfig: { requests: { cpu: '900' } } }],
    ['a probe', { healthCheckConfig: { readinessProbe: '/missing', port: 8080 } }],
  ])(
    'while it waits for %s can be cancelled after it',
    async (_, config) => {
      await sequence.deploySuccessfully(first)
      const release = sequence.toRelease({ ...serve('two'), ports, ...config })
      agent.server.deploy(release)
      await waitUntil('it waits', async () => (await agent.pods()).length === 2, slowMs)
      await killAndStart()
      agent.server.send({ case: 'cancelDeployment', value: { release: release.key } })
      expect(await agent.server.getOutcome(release, slowMs)).toMatchObject({
        successful: false,
        cancelled: true,
        previousRestored: true,
      })
      await expectPrevious()
    },
    180_000,
  )
})

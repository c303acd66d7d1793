import { randomUUID } from 'node:crypto'
import { Phase, PhaseState, type Release } from '@crux/agent-protocol'
import { forwardToKubernetes, idle, kubernetesMissing, type Registry, startRegistry } from '@crux/test-kit'
import { afterAll, beforeAll, beforeEach, describe, expect, type TestContext, test } from 'vitest'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { getPath } from './kit/cluster-objects.ts'
import { ports, serve, shell } from './kit/cluster-scripts.ts'
import { createReleaseSequence, type ReleaseSequence } from './kit/release-sequence.ts'
import { openSlowRegistry } from './kit/slow-registry.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()
/** A busy machine may need some seconds for the start of a container. */
const running = { state: 'running' as const, timeout: 8 }

describe.skipIf(missing)('the time limit of a release on Kubernetes', () => {
  let agent: ClusterAgent
  let sequence: ReleaseSequence
  beforeAll(async () => {
    agent = await startClusterAgent()
  })
  beforeEach(() => {
    sequence = createReleaseSequence(agent)
  })
  afterAll(() => agent?.dispose())

  /** Until the cluster says that the Deployment has missed its deadline. */
  const missesDeadline = (name: string) =>
    waitUntil(
      'its deadline is over',
      async () =>
        JSON.stringify(getPath(await agent.get('Deployment', name), 'status') ?? '').includes(
          'ProgressDeadlineExceeded',
        ),
      60_000,
    )

  /** The states of the pull that the agent reported. */
  const listPullPhases = ({ key }: Release) =>
    (key ? agent.server.listEvents(key) : []).flatMap(({ event }) =>
      event.case === 'phase' && event.value.phase === Phase.PULL ? [event.value.state] : [],
    )

  test('does not count the end of the previous pods where the pods are recreated', async () => {
    const config = {
      ports,
      deploymentStrategy: 'recreate' as const,
      stopGracePeriodSeconds: 12,
      expectedState: running,
    }
    await sequence.deploySuccessfully({ ...config, ...shell("trap '' TERM; while true; do sleep 1; done") })
    await sequence.deploySuccessfully({ ...config, ...serve('two') })
    const failed = { ...config, ...shell("trap '' TERM; while true; do sleep 1; done") }
    const probed = { ...failed, healthCheckConfig: { readinessProbe: '/', port: 8080 } }
    expect(await sequence.deploy(probed)).toMatchObject({
      successful: false,
      reason: expect.stringMatching(/^it was not ready within 8 s: Readiness probe failed/),
      previousRestored: true,
    })
  })

  test('ends a job that runs for longer, shows its last lines and deletes it', async () => {
    const job = {
      name: 'endless',
      ...shell('echo begun; sleep 1000'),
      expectedState: { state: 'exited' as const, timeout: 2 },
    }
    const release = sequence.toRelease({}, { instances: [{ config: job }], partial: true })
    expect(await agent.server.deployAndWait(release)).toMatchObject({
      successful: false,
      reason: 'the container has not ended within 2 s: allow it more time with the timeout of the expected state',
    })
    expect(agent.server.toLines(release, true)).toEqual(['begun'])
    expect((await agent.list('Job')).map(({ name }) => name)).toEqual([])
  })

  test('ends a job that finds no node, in the words of the scheduler', async () => {
    const resourceConfig = { requests: { cpu: '900' } }
    const job = {
      name: 'large',
      ...shell('exit 0'),
      resourceConfig,
      expectedState: { state: 'exited' as const, timeout: 2 },
    }
    const outcome = await sequence.deploy({}, { instances: [{ config: job }], partial: true })
    expect(outcome.reason).toMatch(
      /^the container did not start within 2 s: no node for the pod \(Unschedulable: .*Insufficient cpu/,
    )
  })

  describe('with an image that is pulled slowly', () => {
    let registry: Registry
    let slow: Awaited<ReturnType<typeof openSlowRegistry>>
    let reaches = false
    beforeAll(async () => {
      registry = await startRegistry()
      slow = await openSlowRegistry(registry)
      reaches = await forwardToKubernetes(agent.kubeconfig, slow.port)
    })
    afterAll(async () => {
      slow?.close()
      await registry?.remove()
    })
    // Each test has an image of its own, since a node that has one pulls nothing.
    beforeEach(() => slow.block())
    /** A cluster that CRUX_TEST_KUBECONFIG names may be on another machine, from which nothing leads to this one. */
    const skipUnlessReached = (context: TestContext) =>
      context.skip(!reaches, 'the nodes of this cluster do not reach a registry of this machine')

    test('begins after the pull', async (context) => {
      skipUnlessReached(context)
      await registry.push('slow', '1', idle(randomUUID()))
      const release = agent.release({
        instances: [{ image: `${slow.host}/slow:1`, config: { name: 'slow', expectedState: running } }],
      })
      agent.server.deploy(release)
      await missesDeadline('slow')
      slow.release()
      expect(await agent.server.getOutcome(release)).toMatchObject({ successful: true, reason: '' })
    })

    test('still ends the wait for a container that is not ready after the pull', async (context) => {
      skipUnlessReached(context)
      await registry.push('never', '1', idle(randomUUID()))
      const healthCheckConfig = { readinessProbe: '/', port: 8080 }
      const release = agent.release({
        instances: [
          { image: `${slow.host}/never:1`, config: { name: 'never', healthCheckConfig, expectedState: running } },
        ],
      })
      agent.server.deploy(release)
      await missesDeadline('never')
      slow.release()
      const { reason } = await agent.server.getOutcome(release)
      expect(reason).toMatch(/^it was not ready within 8 s: Readiness probe failed/)
      expect(listPullPhases(release)).toEqual([PhaseState.RUNNING, PhaseState.DONE])
    })

    test('lets it be cancelled during the pull', async (context) => {
      skipUnlessReached(context)
      await registry.push('cancelled', '1', idle(randomUUID()))
      const release = agent.release({
        instances: [{ image: `${slow.host}/cancelled:1`, config: { name: 'cancelled' } }],
      })
      agent.server.deploy(release)
      await waitUntil('the pull begins', async () =>
        (await agent.list('Event')).some((event) =>
          String(event.fields.message).startsWith(`Pulling image "${slow.host}/cancelled`),
        ),
      )
      agent.server.send({ case: 'cancelDeployment', value: { release: release.key } })
      expect(await agent.server.getOutcome(release)).toMatchObject({ successful: false, cancelled: true })
      expect(await agent.get('Deployment', 'cancelled')).toBeUndefined()
    })

    test('begins for a job when its container runs', async (context) => {
      skipUnlessReached(context)
      await registry.push('job', '1', { cmd: ['/bin/sh', '-c', `echo ${randomUUID()}; sleep 1`] })
      const expectedState = { state: 'exited' as const, timeout: 3 }
      const release = agent.release({
        instances: [{ image: `${slow.host}/job:1`, config: { name: 'job', expectedState } }],
      })
      agent.server.deploy(release)
      const pulling = async () => {
        const [pod] = (await agent.pods()).filter(({ labels }) => labels['dev.crux.name'] === 'job')
        return pod && Date.now() - pod.createdAt.getTime() > 5_000
      }
      await waitUntil('the pull takes longer than the job may', pulling)
      slow.release()
      expect(await agent.server.getOutcome(release)).toMatchObject({ successful: true, reason: '' })
    })
  })
})

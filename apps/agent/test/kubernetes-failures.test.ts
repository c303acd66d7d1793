import { randomUUID } from 'node:crypto'
import { Operation } from '@crux/agent-protocol'
import { kubernetesMissing } from '@crux/test-kit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { getPath } from './kit/cluster-objects.ts'
import { ports, serve, shell } from './kit/cluster-scripts.ts'
import { createReleaseSequence, type ReleaseSequence } from './kit/release-sequence.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()

/** Is never ready, and takes long to say so. */
const neverReady = { ...serve('never'), ports, healthCheckConfig: { readinessProbe: '/missing', port: 8080 } }
const manyContainers = 80
/** Of a release that waits for lost connections, or for many pods on a small machine. */
const slowMs = 180_000

describe.skipIf(missing)('a release on a Kubernetes that does not do its part', () => {
  let agent: ClusterAgent
  let instanceId: string
  let toRelease: ReleaseSequence['toRelease']
  let deploy: ReleaseSequence['deploy']
  let deploySuccessfully: ReleaseSequence['deploySuccessfully']
  beforeEach(async () => {
    agent = await startClusterAgent()
    ;({ instanceId, toRelease, deploy, deploySuccessfully } = createReleaseSequence(agent))
  })
  afterEach(() => agent.dispose())
  /** Ends its program on a request, after which the cluster starts it again. */
  const endable = (text: string) => {
    const [script] = serve(text).args
    const page = '/tmp/www/cgi-bin/end'
    return shell(
      `mkdir -p /tmp/www/cgi-bin; printf '#!/bin/sh\nkill 1\n' > ${page}; chmod +x ${page}; ${script?.key ?? ''}`,
    )
  }
  async function restartContainer(name: string) {
    const address = String(getPath(await agent.get('Pod', name), 'status', 'podIP'))
    await fetch(`http://${address}:8080/cgi-bin/end`).catch(() => undefined)
    await waitUntil('it runs again', async () => {
      const statuses = getPath(await agent.get('Pod', name), 'status', 'containerStatuses', '0')
      const isAvailable = getPath(await agent.get('Deployment', 'web'), 'status', 'availableReplicas') === 1
      return isAvailable && JSON.stringify(statuses).includes('"ready":true,"restartCount":1')
    })
  }
  const toReplicas = async (name: string) => getPath(await agent.get('Deployment', name), 'spec', 'replicas')

  test('fails at its deadline in the words of scheduler and provisioner when a claim never binds', async () => {
    const volumes = [{ name: 'data', path: '/data', class: 'does-not-exist', size: '1Mi' }]
    const { reason } = await deploy(
      { ...serve('one'), volumes, expectedState: { state: 'running', timeout: 4 } },
      { cluster: { storageClasses: ['does-not-exist'] } },
    )
    expect(reason).toMatch(/^it was not ready within \d+ s: no node for the pod \(Unschedulable: .*unbound immediate/)
    expect(reason).toMatch(/the volume claim web-data is not bound \(ProvisioningFailed: .*"does-not-exist" not found/)
  })

  test('fails with the quota that it would exceed, and the previous pod stays', async () => {
    await deploySuccessfully({ ...serve('one'), ports })
    const [before] = await agent.pods()
    await agent.setQuota({ pods: '1' })
    const outcome = await deploy({ ...serve('two'), ports, expectedState: { state: 'running', timeout: 3_600 } })
    expect(outcome).toMatchObject({ successful: false, previousRestored: true })
    expect(outcome.reason).toMatch(/^the cluster refuses the pods: .*exceeded quota: quota, requested: pods=1/)
    expect((await agent.pods()).map(({ uid }) => uid)).toEqual([before?.uid])
  })

  test('of a job fails with the quota that it would exceed', async () => {
    // The namespace is made by the first release.
    await deploySuccessfully(serve('one'))
    await agent.setQuota({ pods: '1' })
    const job = { name: 'job', ...shell('exit 0'), expectedState: { state: 'exited' as const, timeout: 3_600 } }
    const { reason } = await deploy({}, { instances: [{ config: job }], partial: true })
    expect(reason).toMatch(/^the cluster refuses the pods: .*exceeded quota: quota, requested: pods=1/)
  })

  test('ends when somebody deletes its namespace, and works again once that is gone', async () => {
    const release = toRelease(neverReady)
    agent.server.deploy(release)
    await waitUntil('the pod exists', async () => (await agent.pods()).length === 1)
    await agent.cluster.delete({ kind: 'Namespace', namespace: '', name: agent.owner.prefix })
    const outcome = await agent.server.getOutcome(release)
    expect(outcome).toMatchObject({ successful: false, previousRestored: false })
    expect(outcome.reason).toMatch(/was deleted from the namespace .* from outside|ended with exit code/)
    await waitUntil(
      'the namespace is gone',
      async () => !(await agent.cluster.get({ kind: 'Namespace', namespace: '', name: agent.owner.prefix })),
    )
    await deploySuccessfully({ ...serve('one'), ports })
  })

  test('names the field and the manager that another program took in the middle, and leaves it to it', async () => {
    const web = { instanceId, config: { name: 'web', ...serve('one'), ports } }
    await deploySuccessfully({}, { instances: [web] })
    const first = {
      config: {
        name: 'first',
        ...serve('first'),
        ports,
        healthCheckConfig: { readinessProbe: '/', port: 8080, startPeriodSeconds: 3 },
      },
    }
    const release = toRelease({}, { instances: [first, { ...web, config: { ...web.config, ...serve('two') } }] })
    agent.server.deploy(release)
    await waitUntil('the first one starts', async () => (await agent.get('Deployment', 'first')) !== undefined)
    await agent.admin.json({
      method: 'PATCH',
      path: `/apis/apps/v1/namespaces/${agent.owner.prefix}/deployments/web`,
      query: { fieldManager: 'autoscaler', force: 'true' },
      contentType: 'application/apply-patch+yaml',
      body: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas: 2 } },
    })
    const outcome = await agent.server.getOutcome(release)
    expect(outcome.reason).toMatch(/has fields that another program manages: \.spec\.replicas \(autoscaler\)/)
    expect(outcome).toMatchObject({ successful: false, instanceId, previousRestored: true })
    expect(await toReplicas('web')).toBe(2)
    expect(await agent.get('Deployment', 'first')).toBeUndefined()
  })

  test('counts no restart in the past of a container: its pod stays, and a failed release says that it runs', async () => {
    const web = { instanceId, config: { name: 'web', ...endable('one'), ports } }
    await deploySuccessfully({}, { instances: [web] })
    const [pod] = await agent.pods()
    await restartContainer(pod?.name ?? '')
    const running = async () => (await agent.pods()).map(({ uid }) => uid)

    const other = { config: { name: 'other', ...serve('other'), ports } }
    await deploySuccessfully({}, { instances: [web, other], partial: true })
    expect(await running()).toContain(pod?.uid)

    const next = { ...web, config: { ...web.config, ...shell('exit 3'), healthCheckConfig: { readinessProbe: '/' } } }
    expect(await deploy({}, { instances: [next], partial: true })).toMatchObject({
      successful: false,
      reason: 'the container ended with exit code 3',
      previousRestored: true,
    })
    expect(await running()).toContain(pod?.uid)

    await deploySuccessfully({}, { instances: [{ ...web, config: { ...web.config, replicas: 2 } }], partial: true })
  })

  test('that fails leaves a container stopped that was stopped before', async () => {
    await deploySuccessfully({ ...serve('one'), ports })
    const container = { prefix: agent.owner.prefix, name: 'web' }
    await agent.server.ask({ case: 'operateContainer', value: { container, operation: Operation.STOP } })
    await waitUntil('it is stopped', async () => (await agent.pods()).length === 0)
    expect(await deploy({ ...shell('exit 3'), ports })).toMatchObject({ successful: false, previousRestored: true })
    expect(await toReplicas('web')).toBe(0)
    expect(await agent.pods()).toEqual([])
  })

  test('of a container with 0 replicas is successful without a pod, and starts it with the next one', async () => {
    await deploySuccessfully({ ...serve('one'), ports, replicas: 0 })
    expect(await toReplicas('web')).toBe(0)
    expect(await agent.pods()).toEqual([])
    await deploySuccessfully({ ...serve('one'), ports, replicas: 2 })
    expect((await agent.pods()).length).toBe(2)
    await deploySuccessfully({ ...serve('one'), ports, replicas: 0 })
    expect(await agent.pods()).toEqual([])
  })

  test('never has fewer pods ready than before while it replaces them', async () => {
    await deploySuccessfully({ ...serve('one'), ports, replicas: 5 })
    const release = toRelease({ ...serve('two'), ports, replicas: 5 })
    const ready: number[] = []
    const ending = new AbortController()
    const watching = (async () => {
      for await (const event of agent.cluster.watch('Deployment', { namespace: agent.owner.prefix }, ending.signal))
        if (event.type === 'changed') ready.push(Number(getPath(event.object, 'status', 'readyReplicas') ?? 0))
    })()
    expect(await agent.server.deployAndWait(release)).toMatchObject({ successful: true })
    ending.abort()
    await watching
    expect(ready.length).toBeGreaterThan(3)
    expect(Math.min(...ready)).toBeGreaterThanOrEqual(5)
    expect((await agent.pods()).length).toBe(5)
  })

  test('goes on when the API server accepts connections and answers nothing for a while', async () => {
    const proxy = await agent.openProxy()
    const cutOff = await startClusterAgent({ kubeconfig: proxy.kubeconfig })
    try {
      const healthCheckConfig = { readinessProbe: '/', port: 8080, startPeriodSeconds: 3 }
      const containers = ['one', 'two', 'three'].map((name) => ({
        config: { name, ...serve(name), ports, healthCheckConfig },
      }))
      const release = cutOff.release({ instances: containers })
      cutOff.server.deploy(release)
      await waitUntil('the first pod exists', async () => (await cutOff.pods()).length === 1)
      proxy.silence()
      await waitUntil(
        'the pod is ready',
        async () => getPath((await cutOff.list('Deployment'))[0], 'status', 'availableReplicas') === 1,
      )
      const isAway = (line: string) => /^The Kubernetes API server does not answer \(.*\): trying again/.test(line)
      await waitUntil('the wait is reported', () => cutOff.server.toLines(release).some(isAway), slowMs)
      proxy.endSilence()
      expect(await cutOff.server.getOutcome(release, slowMs)).toMatchObject({ successful: true, reason: '' })
      expect(cutOff.server.toLines(release)).toContain('the cluster answers again')
      expect((await cutOff.list('Deployment')).length).toBe(3)
    } finally {
      await cutOff.dispose()
      await proxy.cut()
    }
  }, 240_000)

  test('reports that the API server does not answer, and that it answers again', async () => {
    const proxy = await agent.openProxy()
    const cutOff = await startClusterAgent({ kubeconfig: proxy.kubeconfig })
    try {
      const release = cutOff.release({ instances: [{ config: { name: 'web', ...serve('one'), ports } }] })
      await proxy.cut()
      cutOff.server.deploy(release)
      const isAway = (line: string) => /^The Kubernetes API server does not answer \(.*\): trying again/.test(line)
      await waitUntil('the wait is reported', () => cutOff.server.toLines(release).some(isAway))
      await proxy.heal()
      expect(await cutOff.server.getOutcome(release)).toMatchObject({ successful: true, reason: '' })
      const lines = cutOff.server.toLines(release)
      expect(lines.filter(isAway).length).toBe(1)
      expect(lines.filter((line) => line === 'the cluster answers again').length).toBe(1)
    } finally {
      await cutOff.dispose()
      await proxy.cut()
    }
  })

  test(`runs ${manyContainers} containers of one version, and removes them again`, async () => {
    const instances = Array.from({ length: manyContainers }, (_, index) => ({
      instanceId: randomUUID(),
      config: { name: `c${index}`, ...shell('trap "exit 0" TERM; sleep 100000 & wait') },
    }))
    expect(await agent.server.deployAndWait(toRelease({}, { instances }), slowMs)).toMatchObject({ successful: true })
    expect((await agent.list('Deployment')).length).toBe(manyContainers)
    const previous = instances.map((one) => ({
      containerName: `${agent.owner.prefix}-${one.config.name}`,
      instanceId: one.instanceId,
    }))
    const fewer = toRelease({}, { instances: instances.slice(0, 1), previous })
    expect(await agent.server.deployAndWait(fewer, slowMs)).toMatchObject({ successful: true })
    expect((await agent.list('Deployment')).map(({ name }) => name)).toEqual(['c0'])
  }, 300_000)
})

import { randomUUID } from 'node:crypto'
import { kubernetesImage, kubernetesMissing } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Manifest } from '../src/engines/kubernetes/cluster/cluster.ts'
import { ownerLabels } from '../src/engines/labels.ts'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { getPath, toLabels } from './kit/cluster-objects.ts'
import { ports, serve, shell } from './kit/cluster-scripts.ts'
import { createReleaseSequence, type ReleaseSequence } from './kit/release-sequence.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()

const toEarlierJob = (owner: ClusterAgent['owner']): Manifest => {
  const labels = { ...ownerLabels(owner), 'dev.crux.name': 'web', 'dev.crux.instance': randomUUID() }
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'web-1', namespace: owner.prefix, labels },
    spec: {
      template: {
        metadata: { labels },
        spec: {
          restartPolicy: 'Never',
          containers: [{ name: 'web', image: kubernetesImage, imagePullPolicy: 'Never', command: ['true'] }],
        },
      },
    },
  }
}

describe.skipIf(missing)('a release on Kubernetes', () => {
  let agent: ClusterAgent
  let instanceId: string
  let toRelease: ReleaseSequence['toRelease']
  let deploy: ReleaseSequence['deploy']
  let deploySuccessfully: ReleaseSequence['deploySuccessfully']
  beforeEach(async () => {
    agent = await startClusterAgent()
    ;({ instanceId, toRelease, deploy, deploySuccessfully } = createReleaseSequence(agent, { config: { ports } }))
  })
  afterEach(() => agent.dispose())

  test('runs its container behind a service, and says so only when the cluster does', async () => {
    await deploySuccessfully(serve('one'))
    await agent.waitForAnswer('one')
    const deployment = await agent.get('Deployment', 'web')
    expect(getPath(deployment, 'status', 'availableReplicas')).toBe(1)
    expect(toLabels(deployment)).toMatchObject({ 'dev.crux.team': agent.owner.teamId, 'dev.crux.instance': instanceId })
  })

  test('that fails brings the previous one back with its configuration, and its pod answers throughout', async () => {
    const value = async () => {
      const map = await agent.list('ConfigMap')
      return map.flatMap((one) => getPath(one, 'data', 'VALUE') ?? [])
    }
    await deploySuccessfully({ ...serve('one'), environment: [{ key: 'VALUE', value: 'first' }] })
    const url = `http://${getPath(await agent.get('Service', 'web'), 'spec', 'clusterIP')}/`
    const release = toRelease({
      ...shell('echo cannot start; exit 3'),
      // Without a probe, the cluster may take a pod for ready in the moment before it ends.
      healthCheckConfig: { readinessProbe: '/', port: 8080 },
      environment: [{ key: 'VALUE', value: 'second' }],
    })
    agent.server.deploy(release)
    const ended = agent.server.getOutcome(release)
    let failures = 0
    let requests = 0
    for (let isOver = false; !isOver; ) {
      isOver = await Promise.race([
        ended.then(() => true),
        fetch(url, { headers: { connection: 'close' } }).then(
          async (response) => {
            requests += 1
            if ((await response.text()).trim() !== 'one') failures += 1
            return false
          },
          () => {
            requests += 1
            failures += 1
            return false
          },
        ),
      ])
    }
    expect(await ended).toMatchObject({
      successful: false,
      reason: 'the container ended with exit code 3',
      instanceId,
      previousRestored: true,
    })
    expect(requests).toBeGreaterThan(20)
    expect(failures).toBe(0)
    expect(agent.server.toLines(release, true)).toContain('cannot start')
    expect(JSON.stringify(getPath(await agent.get('Deployment', 'web'), 'spec', 'template'))).toContain('echo one')
    expect(await value()).toContain('first')
  })

  test('names what the cluster says about an image that cannot be pulled', async () => {
    const image = 'registry.invalid/app:1'
    const digest = `sha256:${'0'.repeat(64)}`
    const outcome = await deploy({}, { instances: [{ instanceId, image, digest, config: { name: 'web' } }] })
    expect(outcome).toMatchObject({ successful: false, previousRestored: false })
    expect(outcome.reason).toMatch(/^the image cannot be pulled \((ErrImagePull|ImagePullBackOff): /)
    expect(await agent.list('Deployment')).toEqual([])
  })

  test('shows the words of the scheduler, and fails with them when its time is over', async () => {
    const outcome = await deploy({
      ...serve('large'),
      resourceConfig: { requests: { cpu: '900' } },
      expectedState: { state: 'running', timeout: 3 },
    })
    expect(outcome.reason).toMatch(
      /^it was not ready within \d+ s: no node for the pod \(Unschedulable: .*Insufficient cpu/,
    )
  })

  test('with a failing probe names the probe, and a container over its memory limit the limit', async () => {
    const probed = await deploy({
      ...serve('one'),
      healthCheckConfig: { readinessProbe: '/missing', port: 8080 },
      expectedState: { state: 'running', timeout: 8 },
    })
    expect(probed.reason).toMatch(/Readiness probe failed: .*404/)
    // Without a probe, it would count as started if it ran for longer than the observation window before it uses so much.
    const killed = await deploy({
      ...shell('sleep 3; x=a; while true; do x=$x$x; done'),
      resourceConfig: { limits: { memory: '12Mi' } },
      healthCheckConfig: { readinessProbe: '/missing', port: 8080 },
    })
    expect(killed).toMatchObject({ successful: false, reason: expect.stringContaining('OOMKilled') })
  })

  test('of a container that ends as expected is a Job, and fails with another exit code', async () => {
    const config = { ports: [], expectedState: { state: 'exited', exitCode: 4 } }
    await deploySuccessfully({ ...config, ...shell('echo work; exit 4') })
    expect(await agent.list('Deployment')).toEqual([])
    const [job, ...others] = await agent.list('Job')
    expect(others).toEqual([])
    expect(job?.name).toMatch(/^web-1-[0-9a-f]{8}$/)
    const failed = await deploy({ ...config, ...shell('echo broken; exit 5') })
    expect(failed).toMatchObject({ successful: false, reason: 'the container ended with exit code 5, expected was 4' })
    expect((await agent.list('Job')).map(({ uid }) => uid)).toEqual([job?.uid])
  })

  test('of another version runs a Job of the same name and number again, and deletes the earlier ones', async () => {
    const job = (script: string) => ({
      name: 'web',
      ports: [],
      expectedState: { state: 'exited' as const },
      ...shell(script),
    })
    const deployVersion = (script: string) =>
      agent.server.deployAndWait(
        agent.release({ deploymentId: randomUUID(), number: 1, instances: [{ config: job(script) }] }),
      )
    // The name that earlier agents gave it.
    await agent.cluster.create({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: agent.owner.prefix, labels: ownerLabels(agent.owner) },
    })
    await agent.cluster.create(toEarlierJob(agent.owner))
    expect(await deployVersion('echo one')).toMatchObject({ successful: true, reason: '' })
    const [first, ...others] = await agent.list('Job')
    expect(others).toEqual([])
    expect(await deployVersion('exit 3')).toMatchObject({ successful: false })
    expect((await agent.list('Job')).map(({ uid }) => uid)).toEqual([first?.uid])
    expect(await deployVersion('echo two')).toMatchObject({ successful: true, reason: '' })
    const [second, ...more] = await agent.list('Job')
    expect(more).toEqual([])
    expect(second?.uid).not.toBe(first?.uid)
    expect((await agent.pods()).map(({ owners }) => owners[0]?.uid)).toEqual([second?.uid])
  })

  test('of the next version, whose instances are others, replaces the container of the same name', async () => {
    await deploySuccessfully({ ...serve('one'), environment: [{ key: 'A', value: '1' }] })
    const next = { instanceId: randomUUID(), config: { name: 'web', ports, ...serve('two') } }
    const other = { deploymentId: randomUUID() }
    const broken = { ...next, config: { ...next.config, ...shell('exit 3') } }
    expect(await deploy({}, { ...other, instances: [broken] })).toMatchObject({
      successful: false,
      reason: 'the container ended with exit code 3',
      previousRestored: true,
    })
    await agent.waitForAnswer('one')
    await deploySuccessfully({}, { ...other, instances: [next] })
    await agent.waitForAnswer('two')
    expect((await agent.list('Deployment')).map(({ labels }) => labels['dev.crux.instance'])).toEqual([next.instanceId])
    expect((await agent.list('Service')).map(({ name }) => name)).toEqual(['web'])
  })

  test('of a part of a version ends what its container was before under another kind or name, and nothing else', async () => {
    const other = { instanceId: randomUUID(), config: { name: 'other', ...serve('other') } }
    const job = { ...shell('exit 0'), ports: [], expectedState: { state: 'exited' } }
    const toInstances = (config: object) => ({ instances: [{ instanceId, config: { name: 'web', ports, ...config } }] })
    const names = async (kind: 'Deployment' | 'Job' | 'Service') =>
      (await agent.list(kind)).map(({ name }) => name.replace(/-\d+-[0-9a-f]{8}$/, '')).sort()
    await deploySuccessfully({}, { instances: [...toInstances(serve('one')).instances, other] })
    await deploySuccessfully({}, { ...toInstances(job), partial: true })
    expect([await names('Deployment'), await names('Job'), await names('Service')]).toEqual([['other'], ['web'], []])
    await deploySuccessfully({}, { ...toInstances({ name: 'api', ...serve('two') }), partial: true })
    expect([await names('Deployment'), await names('Job'), await names('Service')]).toEqual([
      ['api', 'other'],
      [],
      ['api'],
    ])
  })

  test('gives a secret to the container alone', async () => {
    const secrets = [{ key: 'PASSWORD', required: true, encrypted: true, value: await agent.seal('not-for-logs') }]
    const release = toRelease({ ...shell('echo got $PASSWORD; exit 1'), secrets })
    expect(await agent.server.deployAndWait(release)).toMatchObject({ successful: false })
    expect(agent.server.toLines(release, true)).toEqual(['got ***'])
    const reported = JSON.stringify(
      agent.server.listEvents(release.key ?? { $typeName: 'crux.agent.v1.ReleaseKey', deploymentId: '', number: 0 }),
      (_, value) => (typeof value === 'bigint' ? String(value) : value),
    )
    expect(reported).not.toContain('not-for-logs')
  })

  test('ends the containers that the version no longer has, and keeps their claims', async () => {
    const data = { volumes: [{ name: 'data', path: '/data', type: 'rwo' as const, size: '10Mi' }] }
    const other = { instanceId: randomUUID(), config: { name: 'old', ...serve('old'), ...data, ports } }
    const web = { instanceId, config: { name: 'web', ...serve('one'), ports } }
    await deploySuccessfully({}, { instances: [web, other] })
    expect((await agent.list('Deployment')).map(({ name }) => name).sort()).toEqual(['old', 'web'])
    const previous = ['web', 'old'].map((name) => ({
      containerName: `${agent.owner.prefix}-${name}`,
      instanceId: name === 'web' ? instanceId : other.instanceId,
    }))
    await deploySuccessfully({}, { instances: [web], previous })
    expect((await agent.list('Deployment')).map(({ name }) => name)).toEqual(['web'])
    expect((await agent.list('Service')).map(({ name }) => name)).toEqual(['web'])
    expect((await agent.list('PersistentVolumeClaim')).map(({ name }) => name)).toEqual(['old-data'])
  })

  test('writes a volume with one pod at a time, and refuses more replicas for it', async () => {
    const volumes = [{ name: 'data', path: '/data', type: 'rwo' as const, size: '10Mi' }]
    await deploySuccessfully({ ...serve('one'), volumes })
    expect(getPath(await agent.get('Deployment', 'web'), 'spec', 'strategy', 'type')).toBe('Recreate')
    const refused = await deploy({ ...serve('two'), volumes, replicas: 2 })
    expect(refused.reason).toMatch(/^replicas: The volume data may be written by one pod only/)
    await agent.waitForAnswer('one')
  })

  test('goes on when the API server was cut off in the middle', async () => {
    const proxy = await agent.openProxy()
    const cutOff = await startClusterAgent({ kubeconfig: proxy.kubeconfig })
    try {
      const release = cutOff.release({
        instances: [
          {
            config: {
              name: 'web',
              ...serve('one'),
              ports,
              healthCheckConfig: { readinessProbe: '/', port: 8080, startPeriodSeconds: 3 },
            },
          },
        ],
      })
      cutOff.server.deploy(release)
      await waitUntil('the pod exists', async () => (await cutOff.pods()).length === 1)
      await proxy.cut()
      await waitUntil(
        'the pod is ready',
        async () => getPath((await cutOff.list('Deployment'))[0], 'status', 'availableReplicas') === 1,
      )
      await proxy.heal()
      expect(await cutOff.server.getOutcome(release)).toMatchObject({ successful: true })
    } finally {
      await cutOff.dispose()
      await proxy.cut()
    }
  })
})

describe.skipIf(missing)('what is not of the deployment', () => {
  let agent: ClusterAgent
  beforeAll(async () => {
    agent = await startClusterAgent()
  })
  afterAll(() => agent?.dispose())

  const deployTo = (owner: Partial<ClusterAgent['owner']>) =>
    agent.server.deployAndWait(
      agent.release({
        instances: [{ config: { name: 'web', ...serve('new'), ports } }],
        ...{ owner: { ...agent.owner, ...owner } },
      }),
    )

  test('is a namespace of the cluster itself: no prefix may be its name', async () => {
    for (const prefix of ['default', 'kube-system'])
      expect((await deployTo({ prefix })).reason).toContain('is a namespace of the cluster itself')
  })

  test('is a namespace that somebody else made: it is refused, and nothing is created in it', async () => {
    const prefix = await agent.createNamespace()
    expect((await deployTo({ prefix })).reason).toBe(
      `the namespace ${prefix} exists and is not of this node: choose another prefix`,
    )
    expect(await agent.list('Deployment', prefix)).toEqual([])
    expect(await agent.list('ConfigMap', prefix)).toHaveLength(1)
  })

  test('is a namespace of another team: it is refused without naming the team', async () => {
    const teamId = randomUUID()
    const prefix = await agent.createNamespace(() => ({
      'dev.crux.team': teamId,
      'dev.crux.node': randomUUID(),
      'dev.crux.prefix': 'x',
    }))
    const { reason } = await deployTo({ prefix })
    expect(reason).toBe(`the namespace ${prefix} exists and is not of this node: choose another prefix`)
    expect(reason).not.toContain(teamId)
  })

  test('is an object of the same name: it is named, and neither changed nor deleted', async () => {
    const { nodeId, teamId } = agent.owner
    const prefix = await agent.createNamespace((name) => ({
      'dev.crux.team': teamId,
      'dev.crux.node': nodeId,
      'dev.crux.prefix': name,
    }))
    await agent.cluster.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: prefix },
      spec: { ports: [{ port: 1, name: 'p' }], selector: { foreign: 'yes' } },
    })
    const before = await agent.cluster.get({ kind: 'Service', namespace: prefix, name: 'web' })
    const { reason } = await deployTo({ prefix })
    expect(reason).toBe(
      `the namespace ${prefix} has a Service named web that is not of this deployment: choose another name for the container, or delete the Service`,
    )
    expect((await agent.cluster.get({ kind: 'Service', namespace: prefix, name: 'web' }))?.resourceVersion).toBe(
      before?.resourceVersion,
    )
    expect(await agent.list('Deployment', prefix)).toEqual([])
  })
})

import { randomUUID } from 'node:crypto'
import { type ObjectDifference, ObjectDifferenceType, Operation, type Release } from '@crux/agent-protocol'
import { clusterRights, deploymentRights } from '@crux/rules'
import { kubernetesMissing } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ObjectKind } from '../src/engines/kubernetes/cluster/cluster.ts'
import { openTestCluster, type TestCluster } from './kit/cluster.ts'
import { createAccount } from './kit/cluster-accounts.ts'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { getPath } from './kit/cluster-objects.ts'
import { ports, serve } from './kit/cluster-scripts.ts'

const missing = kubernetesMissing()
const { ADDED, CHANGED, FOREIGN, MISSING } = ObjectDifferenceType
const plural = {
  Deployment: 'apis/apps/v1/deployments',
  Service: 'api/v1/services',
  ConfigMap: 'api/v1/configmaps',
  Secret: 'api/v1/secrets',
} as const

describe.skipIf(missing)('drift from a release on Kubernetes', () => {
  let testCluster: TestCluster
  let account: Awaited<ReturnType<typeof createAccount>>
  let agent: ClusterAgent
  let instanceId: string
  let deploymentId: string
  let number = 0
  let password: string
  // The agent compares and puts back with the rights that it has in an installation.
  beforeAll(async () => {
    testCluster = await openTestCluster()
    const rights = [...clusterRights, ...deploymentRights]
    account = await createAccount(testCluster, await testCluster.createNamespace(), { cluster: rights })
  })
  afterAll(async () => {
    await account?.deleteRights()
    await testCluster?.dispose()
  })
  beforeEach(async () => {
    agent = await startClusterAgent({ kubeconfig: account.kubeconfig })
    instanceId = randomUUID()
    deploymentId = randomUUID()
    number = 0
    password = await agent.seal('correct horse battery')
  })
  afterEach(() => agent.dispose())

  const toRelease = (config: object = {}, more: Partial<Parameters<ClusterAgent['release']>[0]> = {}): Release => {
    number += 1
    return agent.release({
      deploymentId,
      number,
      previous: number > 1 ? [{ containerName: `${agent.owner.prefix}-web`, instanceId }] : [],
      instances: [
        {
          instanceId,
          config: {
            name: 'web',
            ports,
            ...serve('one'),
            environment: [{ key: 'VALUE', value: 'wanted' }],
            secrets: [{ key: 'PASSWORD', required: true, encrypted: true, value: password }],
            volumes: [{ name: 'data', path: '/data', type: 'rwo', size: '10Mi' }],
            resourceConfig: { limits: { memory: '64Mi' }, requests: { cpu: '0.01' } },
            ...config,
          },
        },
      ],
      ...more,
    })
  }
  const deploy = async (release: Release) => {
    expect(await agent.server.deployAndWait(release)).toMatchObject({ successful: true, reason: '' })
    return release
  }
  const ask = (release: Release, value: object = {}) =>
    agent.server.ask({ case: 'findDrift', value: { release, ...value } })
  const find = async (release: Release): Promise<ObjectDifference[]> => {
    const answer = await ask(release)
    if (answer.case !== 'drift') throw new Error(`${answer.case}: ${JSON.stringify(answer.value)}`)
    return answer.value.objects
  }
  const toPath = (kind: keyof typeof plural, name = '') => {
    const [root, group, version, resource] = plural[kind].split('/')
    const [base, last] = resource ? [`${root}/${group}/${version}`, resource] : [`${root}/${group}`, version]
    return `/${base}/namespaces/${agent.owner.prefix}/${last}${name && `/${name}`}`
  }
  /** As `kubectl edit`, `set image` and `scale` do it. */
  const edit = (kind: keyof typeof plural, name: string, body: object) =>
    agent.admin.json({
      method: 'PATCH',
      path: toPath(kind, name),
      query: { fieldManager: 'kubectl-edit' },
      contentType: 'application/strategic-merge-patch+json',
      body,
    })
  const editContainer = (fields: object) =>
    edit('Deployment', 'web', { spec: { template: { spec: { containers: [{ name: 'web', ...fields }] } } } })
  /** Replaces an object that cannot be changed by another one of the same name and labels. */
  const replaceData = async (kind: 'ConfigMap' | 'Secret', data: Record<string, string>) => {
    const found = (await agent.list(kind)).find(({ labels }) => labels['dev.crux.instance'] === instanceId)
    if (!found) throw new Error(`there is no ${kind}`)
    const { labels, name } = found
    await agent.admin.json({ method: 'DELETE', path: toPath(kind, name) })
    await agent.admin.json({ method: 'POST', path: toPath(kind), body: { metadata: { name, labels }, data } })
    return name
  }
  const putBack = () => deploy(toRelease({}, { takeBackFields: true }))
  const countWrites = async (kinds: readonly ObjectKind[]) =>
    (await Promise.all(kinds.map((kind) => agent.list(kind))))
      .flat()
      .map(({ kind, name, resourceVersion }) => [kind, name, resourceVersion])

  test('is none right after the release, nor where a later release kept the container, and asking changes nothing', async () => {
    const first = await deploy(toRelease())
    const kinds: ObjectKind[] = ['Deployment', 'Service', 'ConfigMap', 'Secret', 'PersistentVolumeClaim']
    const before = await countWrites(kinds)
    expect(await find(first)).toEqual([])
    expect(await countWrites(kinds)).toEqual(before)
    const second = await deploy(toRelease())
    expect(await agent.get('Deployment', 'web')).toMatchObject({ labels: { 'dev.crux.release': '1' } })
    expect(await find(second)).toEqual([])
  })

  test('names the fields that another program changed, and a release that takes fields back puts them back', async () => {
    const release = await deploy(toRelease())
    await editContainer({
      image: 'localhost/pause:1',
      env: [
        { name: 'VALUE', value: 'other' },
        { name: 'PASSWORD', value: 'x' },
        { name: 'MORE', value: 'own' },
      ],
    })
    await edit('Deployment', 'web', { spec: { replicas: 2 }, metadata: { labels: { extra: 'label' } } })
    const found = await find(release)
    const at = 'spec.template.spec.containers[web]'
    expect(found).toMatchObject([{ kind: 'Deployment', name: 'web', instanceId, type: CHANGED }])
    expect(found[0]?.fields.map(({ path, wanted, found: has, secret }) => [path, wanted, has, secret])).toEqual([
      ['spec.replicas', '1', '2', false],
      [`${at}.image`, 'localhost/busybox:1', 'localhost/pause:1', false],
      [`${at}.env[VALUE]`, 'wanted', 'other', false],
      [`${at}.env[PASSWORD]`, undefined, undefined, true],
    ])

    const ordinary = await agent.server.deployAndWait(toRelease({}, { recreate: true }))
    expect(ordinary.reason).toMatch(/fields that another program manages: .*\(kubectl-edit\)/)

    const last = await putBack()
    expect(await find(last)).toEqual([])
    const deployment = await agent.get('Deployment', 'web')
    expect(getPath(deployment, 'spec', 'replicas')).toBe(1)
    expect(getPath(deployment, 'spec', 'template', 'spec', 'containers', '0', 'image')).toBe('localhost/busybox:1')
    expect(getPath(deployment, 'spec', 'template', 'spec', 'containers', '0', 'env')).toEqual([
      { name: 'MORE', value: 'own' },
    ])
    expect(deployment?.labels.extra).toBe('label')
    await deploy(toRelease({}, { recreate: true }))
  })

  test('names objects that were deleted, replaced by those of others, or added, and the release restores them', async () => {
    const release = await deploy(toRelease())
    await agent.admin.json({ method: 'DELETE', path: toPath('Service', 'web') })
    const copy = await agent.get('Deployment', 'web')
    await agent.admin.json({
      method: 'POST',
      path: toPath('Deployment'),
      body: { metadata: { name: 'copy', labels: copy?.labels }, spec: copy?.fields.spec },
    })
    expect((await find(release)).map(({ kind, name, type }) => [kind, name, type])).toEqual([
      ['Service', 'web', MISSING],
      ['Deployment', 'copy', ADDED],
    ])
    const last = await putBack()
    expect(await find(last)).toEqual([])
    expect((await agent.list('Deployment')).map(({ name }) => name)).toEqual(['web'])

    await agent.admin.json({ method: 'DELETE', path: toPath('Service', 'web') })
    const spec = { selector: { token: 'foreign' }, ports: [{ port: 1 }] }
    await agent.admin.json({ method: 'POST', path: toPath('Service'), body: { metadata: { name: 'web' }, spec } })
    expect(await find(last)).toMatchObject([{ kind: 'Service', name: 'web', type: FOREIGN, fields: [] }])
    const refused = await agent.server.deployAndWait(toRelease({}, { takeBackFields: true }))
    expect(refused.reason).toContain('has a Service named web that is not of this deployment')
  })

  test('says that a Secret differs without a value of it, and the release brings its values back', async () => {
    const release = await deploy(toRelease({ commands: [{ key: '/bin/sh' }, { key: '-c' }] }))
    const value = 'attacker value'
    await replaceData('Secret', { PASSWORD: Buffer.from(value).toString('base64') })
    await replaceData('ConfigMap', { VALUE: 'other' })
    await editContainer({ args: ['sleep 1; echo correct horse battery'] })
    const found = await find(release)
    expect(
      found.map(({ fields, kind }) => [
        kind,
        fields.map(({ found: has, path, secret, wanted }) => [path, wanted, has, secret]),
      ]),
    ).toEqual([
      ['Deployment', [[expect.stringMatching(/\.args$/), expect.any(String), '["sleep 1; echo ***"]', false]]],
      ['ConfigMap', [['data.VALUE', 'wanted', 'other', false]]],
      ['Secret', [['data.PASSWORD', undefined, undefined, true]]],
    ])
    const text = JSON.stringify(found)
    for (const hidden of [value, 'correct horse battery'])
      for (const form of [hidden, Buffer.from(hidden).toString('base64')]) expect(text).not.toContain(form)
    const last = await putBack()
    expect(await find(last)).toEqual([])
    const [data] = (await agent.list('Secret')).map((secret) => getPath(secret, 'data', 'PASSWORD'))
    expect(Buffer.from(String(data), 'base64').toString()).toBe('correct horse battery')
  })

  test('is none after a stop by a user, but after a scale to nothing by somebody else', async () => {
    const release = await deploy(toRelease())
    const container = { prefix: agent.owner.prefix, name: 'web' }
    await agent.server.ask({ case: 'operateContainer', value: { container, operation: Operation.STOP } })
    expect(getPath(await agent.get('Deployment', 'web'), 'spec', 'replicas')).toBe(0)
    expect(await find(release)).toEqual([])
    await agent.server.ask({ case: 'operateContainer', value: { container, operation: Operation.START } })
    await agent.server.ask({ case: 'operateContainer', value: { container, operation: Operation.RESTART } })
    expect(await find(release)).toEqual([])
    await agent.admin.json({
      method: 'PATCH',
      path: `${toPath('Deployment', 'web')}/scale`,
      query: { fieldManager: 'kubectl' },
      contentType: 'application/merge-patch+json',
      body: { spec: { replicas: 0 } },
    })
    expect((await find(release))[0]?.fields).toMatchObject([{ path: 'spec.replicas', wanted: '1', found: '0' }])
  })

  test('is none of a Service whose selector an earlier agent made, and is one where another program changes it', async () => {
    const release = await deploy(toRelease())
    const made = await agent.cluster.getOwned({ kind: 'Service', namespace: agent.owner.prefix, name: 'web' })
    if (!made?.manifest) throw new Error('the service is the own one')
    const spec = { ...Object(made.manifest.spec), selector: { 'dev.crux.name': 'web' } }
    await agent.cluster.apply({ ...made.manifest, spec }, made.object)
    expect(await find(release)).toEqual([])
    await edit('Service', 'web', { spec: { selector: { 'dev.crux.name': 'other' } } })
    expect(await find(release)).toMatchObject([
      { kind: 'Service', type: CHANGED, fields: [{ path: 'spec.selector', found: '{"dev.crux.name":"other"}' }] },
    ])
    const last = await putBack()
    expect(await find(last)).toEqual([])
    expect(getPath(await agent.get('Service', 'web'), 'spec', 'selector')).toMatchObject({
      'dev.crux.project': agent.owner.projectId,
    })
  })

  test('of a ConfigMap with other values than its name says stops a release that would use them', async () => {
    await deploy(toRelease())
    const name = await replaceData('ConfigMap', { VALUE: 'other' })
    const { reason } = await agent.server.deployAndWait(toRelease({}, { recreate: true }))
    expect(reason).toContain(`another program has replaced the ConfigMap ${name}`)
    await putBack()
  })

  test('that cannot be put back is left as the other program had it', async () => {
    await deploy(toRelease())
    await edit('Deployment', 'web', { spec: { replicas: 2, minReadySeconds: 0 } })
    await editContainer({ env: [{ name: 'VALUE', value: 'other' }] })
    const failing = { args: [{ key: 'exit 3' }] }
    const outcome = await agent.server.deployAndWait(toRelease(failing, { takeBackFields: true }))
    expect(outcome).toMatchObject({ successful: false, previousRestored: true })
    const deployment = await agent.get('Deployment', 'web')
    expect(getPath(deployment, 'spec', 'replicas')).toBe(2)
    expect(getPath(deployment, 'spec', 'template', 'spec', 'containers', '0', 'env')).toEqual([
      { name: 'VALUE', value: 'other' },
    ])
    expect(JSON.stringify(deployment?.fields)).not.toContain('exit 3')
  })

  test('is not shown for another team, another node, or a namespace of somebody else', async () => {
    const release = await deploy(toRelease())
    const other = { teamId: randomUUID(), nodeId: agent.owner.nodeId }
    expect(await ask(release, { scope: other })).toMatchObject({ case: 'failure' })
    const owner = { ...agent.owner, ...other }
    const stolen = agent.release({
      deploymentId,
      number: 1,
      owner,
      instances: [{ instanceId, config: { name: 'web', ports } }],
    })
    const answer = await ask(stolen, { scope: other })
    expect(answer).toMatchObject({
      case: 'failure',
      value: { message: expect.stringContaining('is not of this node') },
    })
    expect(
      JSON.stringify(answer, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    ).not.toContain('wanted')
  })
})

import { agentStateRights, clusterRights, deploymentRights, limitedRights } from '@crux/rules'
import { kubernetesMissing } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openTestCluster, type TestCluster } from './kit/cluster.ts'
import { createAccount } from './kit/cluster-accounts.ts'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { createPrefixData, isDeleted, isKept } from './kit/prefix-data.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()
const names = ['web-cache', 'web-data']
const lock = 'crux-deletion'

describe.skipIf(missing)('a namespace that is locked for its deletion', () => {
  let agent: ClusterAgent
  let data: ReturnType<typeof createPrefixData>
  beforeEach(async () => {
    agent = await startClusterAgent()
    data = createPrefixData(agent)
  })
  afterEach(() => agent.dispose())

  const toLock = ({ nodeId, prefix, teamId }: { nodeId: string; prefix: string; teamId: string }) => ({
    apiVersion: 'v1',
    kind: 'ResourceQuota' as const,
    metadata: {
      name: lock,
      namespace: prefix,
      labels: { 'dev.crux.team': teamId, 'dev.crux.node': nodeId, 'dev.crux.prefix': prefix },
    },
    spec: { hard: { 'count/secrets': '0', 'count/deployments.apps': '0' } },
  })

  test('is unlocked by the next process when the agent is killed in between, and nothing of it is lost', async () => {
    await data.deploy()
    await data.deleteContainers()
    const secret = await data.create('Secret', 'foreign')
    await agent.stopAgent()
    const { child, exited } = agent.spawnAgent()
    await agent.server.waitForLink()
    await data.delete({ claims: ['web-data'], namespace: false })
    expect(await agent.get('PersistentVolumeClaim', 'web-data')).toBeUndefined()
    void data.tryToDelete({ claims: ['web-cache'], namespace: true }).catch(() => undefined)
    await waitUntil('it is locked', async () => (await data.quotas()).includes(lock), 30_000)
    child.kill('SIGKILL')
    await exited
    await expect(data.create('Secret', 'late')).rejects.toThrow(/quota/)
    await agent.restartAgent()
    await waitUntil('it is unlocked', async () => (await data.quotas()).length === 0)
    expect((await agent.get('Secret', 'foreign'))?.uid).toBe(secret.uid)
    await data.deploy()
  })

  test('is unlocked by the next release, or the next deletion, of its own node alone', async () => {
    await data.deploy()
    await data.deleteContainers()
    await agent.cluster.create(toLock(agent.owner))
    await data.deploy()
    expect(await data.quotas()).toEqual([])
    await data.deleteContainers()
    await agent.cluster.create(toLock({ ...agent.owner, teamId: 'another-team' }))
    const { namespace } = await data.delete({ claims: names, namespace: true })
    expect(namespace).toMatchObject(
      isKept(/has a ResourceQuota named crux-deletion that is not of this node: delete it/),
    )
    expect(await data.quotas()).toEqual([lock])
    await agent.cluster.delete({ kind: 'ResourceQuota', namespace: agent.owner.prefix, name: lock })
    await agent.cluster.create(toLock(agent.owner))
    expect(await data.delete({ namespace: true })).toMatchObject({ namespace: isDeleted })
  })

  test('stays with an object of a kind that the cluster has just learned', async () => {
    await data.deploy()
    await data.deleteContainers()
    const { prefix } = agent.owner
    const group = `${prefix}.example.com`
    const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    const widgets = `/apis/${group}/v1/namespaces/${prefix}/widgets`
    const { admin } = agent
    await admin.json({
      method: 'POST',
      path: crds,
      body: {
        metadata: { name: `widgets.${group}` },
        spec: {
          group,
          scope: 'Namespaced',
          names: { plural: 'widgets', singular: 'widget', kind: 'Widget' },
          versions: [
            {
              name: 'v1',
              served: true,
              storage: true,
              schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
            },
          ],
        },
      },
    })
    try {
      const body = {
        apiVersion: `${group}/v1`,
        kind: 'Widget',
        metadata: { name: 'theirs', finalizers: ['example.com/held'] },
      }
      await waitUntil('the kind is served', () =>
        admin.json({ method: 'POST', path: widgets, body }).catch(() => undefined),
      )
      const kept = await data.delete({ claims: names, namespace: true })
      expect(kept.namespace).toMatchObject(isKept(new RegExp(`more in it than Crux has made.*widgets.${group}: 1$`)))
      expect(await admin.json({ path: `${widgets}/theirs` })).toMatchObject({ metadata: { name: 'theirs' } })
      expect(await data.quotas()).toEqual([])
    } finally {
      await admin.json({
        method: 'PATCH',
        path: `${widgets}/theirs`,
        contentType: 'application/merge-patch+json',
        body: { metadata: { finalizers: [] } },
      })
      await admin.json({ method: 'DELETE', path: `${crds}/widgets.${group}` })
    }
  })
})

describe.skipIf(missing)('the deletion of data by an agent with fewer rights', () => {
  let testCluster: TestCluster
  let stateNamespace: string
  beforeAll(async () => {
    testCluster = await openTestCluster()
    stateNamespace = await testCluster.createNamespace()
  })
  afterAll(() => testCluster?.dispose())

  test('is that of claims alone where it is limited to some namespaces', async () => {
    const namespace = await testCluster.createNamespace()
    const { kubeconfig } = await createAccount(testCluster, stateNamespace, {
      namespaces: { [stateNamespace]: agentStateRights, [namespace]: [...deploymentRights, ...limitedRights] },
    })
    const agent = await startClusterAgent({ kubeconfig, stateNamespace, namespaces: [namespace], prefix: namespace })
    try {
      const data = createPrefixData(agent)
      await data.deploy()
      await data.deleteContainers()
      const reason = 'the agent is limited to some namespaces by CRUX_NAMESPACES, and deletes none of them'
      expect(await data.find()).toMatchObject({ namespaceReason: reason, claims: [{}, {}] })
      expect(await data.delete({ claims: names, namespace: true })).toMatchObject({
        claims: [isDeleted, isDeleted],
        namespace: isKept(reason),
      })
      for (const [prefix, message] of [
        [await testCluster.createNamespace(), 'the agent is limited to the namespaces'],
        [stateNamespace, 'is the namespace of the agent itself'],
      ] as const)
        expect(await agent.server.ask({ case: 'deletePrefixData', value: { prefix, namespace: true } })).toMatchObject({
          case: 'failure',
          value: { message: expect.stringContaining(message) },
        })
    } finally {
      await agent.dispose()
    }
  })

  test('says which right is missing, and how to get it, where it was installed by an earlier manifest', async () => {
    const earlier = [...deploymentRights, ...clusterRights].flatMap((right) =>
      right.resources.includes('resourcequotas')
        ? []
        : right.resources.includes('persistentvolumeclaims')
          ? [{ ...right, verbs: ['get', 'create'] }]
          : [{ ...right, verbs: right.resources.includes('namespaces') ? ['get', 'create'] : right.verbs }],
    )
    const { deleteRights, kubeconfig } = await createAccount(testCluster, stateNamespace, { cluster: earlier })
    const agent = await startClusterAgent({ kubeconfig })
    try {
      const data = createPrefixData(agent)
      await data.deploy()
      await data.deleteContainers()
      await expect(data.find()).rejects.toThrow(
        /no right to list persistentvolumeclaims in the namespace .* or apply the manifest of the node again/,
      )
      const { claims, namespace } = await data.delete({ claims: names, namespace: true })
      for (const { reason } of [...claims, ...(namespace ? [namespace] : [])])
        expect(reason).toMatch(/no right to .* or apply the manifest of the node again$/)
      expect((await agent.list('PersistentVolumeClaim')).length).toBe(2)
      await data.deploy()
    } finally {
      await agent.dispose()
      await deleteRights()
    }
  })
})

import { DeletionState, FailureCode } from '@crux/agent-protocol'
import { kubernetesImage, kubernetesMissing } from '@crux/test-kit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { toOwnLabels, toWorkload } from './kit/cluster.ts'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { createPrefixData, isDeleted, isKept } from './kit/prefix-data.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()
const names = ['web-cache', 'web-data']

describe.skipIf(missing)('the data of a prefix', () => {
  let agent: ClusterAgent
  let data: ReturnType<typeof createPrefixData>
  beforeEach(async () => {
    agent = await startClusterAgent()
    data = createPrefixData(agent)
  })
  afterEach(() => agent.dispose())

  const claims = async () => (await agent.list('PersistentVolumeClaim')).map(({ name }) => name).sort()
  const setFinalizers = (claim: string, finalizers: string[]) =>
    agent.admin.json({
      method: 'PATCH',
      path: `/api/v1/namespaces/${agent.owner.prefix}/persistentvolumeclaims/${claim}`,
      contentType: 'application/merge-patch+json',
      body: { metadata: { finalizers } },
    })
  /** A pod of somebody else, with a claim mounted. */
  const toPod = (name: string, claimName: string) => ({
    apiVersion: 'v1',
    kind: 'Pod' as const,
    metadata: { name, namespace: agent.owner.prefix },
    spec: {
      terminationGracePeriodSeconds: 1,
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName } }],
      containers: [
        {
          name,
          image: kubernetesImage,
          command: ['/bin/sh', '-c', 'sleep 1000'],
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        },
      ],
    },
  })

  test('is listed, and stays with its containers deleted and when others of it are chosen', async () => {
    await data.deploy()
    await data.deleteContainers()
    const { claims: listed, ...rest } = await data.find()
    expect(rest).toMatchObject({ namespaceExists: true, namespaceReason: '', foreignObjects: [] })
    expect(listed.map(({ key }) => key?.name).sort()).toEqual(names)
    const found = listed.find(({ key }) => key?.name === 'web-data')
    const claim = await agent.get('PersistentVolumeClaim', 'web-data')
    expect(found).toMatchObject({ key: { uid: claim?.uid }, phase: 'Bound', storageClass: 'standard' })
    expect(found?.volumeName).toMatch(/^pvc-/)
    expect(found?.size).toMatch(/^1/)
    expect(Number(found?.createdAt?.seconds)).toBe((claim?.createdAt.getTime() ?? 0) / 1_000)
    expect(await data.delete({ claims: ['web-data'], namespace: true })).toMatchObject({
      claims: [{ key: { name: 'web-data' }, ...isDeleted }],
      namespace: isKept(`the namespace ${agent.owner.prefix} stays with its claims: web-cache`),
    })
    expect(await claims()).toEqual(['web-cache'])
    expect((await data.namespace())?.deletedAt).toBeUndefined()
  })

  test('is not touched while a container of the prefix exists', async () => {
    await data.deploy()
    expect(await data.tryToDelete({ claims: names, namespace: true })).toMatchObject({
      case: 'failure',
      value: {
        code: FailureCode.CONFLICT,
        message: `The prefix ${agent.owner.prefix} still has containers: web. Delete them first`,
      },
    })
    expect(await claims()).toEqual(names)
  })

  test('is deleted with the namespace, which takes nothing new in the meantime, and again without an error', async () => {
    await data.deploy()
    await data.deleteContainers()
    const deleting = data.delete({ claims: names, namespace: true })
    await waitUntil('it is locked', async () => (await data.quotas()).length === 2, 30_000)
    for (const kind of ['Secret', 'ConfigMap', 'PersistentVolumeClaim'] as const)
      await expect(data.create(kind, 'late')).rejects.toThrow(/exceeded quota|being terminated|There is no/)
    const isAllDeleted = {
      claims: names.map((name) => ({ key: { name }, ...isDeleted })),
      namespace: isDeleted,
    }
    expect(await deleting).toMatchObject(isAllDeleted)
    expect(await data.namespace()).toBeUndefined()
    expect(await data.find()).toMatchObject({ claims: [], namespaceExists: false })
    expect(await data.delete({ claims: names, namespace: true })).toMatchObject(isAllDeleted)
    await data.deploy()
  })

  test('keeps its namespace with any object that Crux did not make, which is named by its kind', async () => {
    await data.deploy()
    await data.deleteContainers()
    const { prefix } = agent.owner
    for (const kind of ['Secret', 'ConfigMap'] as const) {
      const made = await data.create(kind, 'foreign')
      const resource = kind === 'Secret' ? 'secrets: 1' : 'configmaps: 2'
      const { namespace } = await data.delete({ claims: names, namespace: true })
      expect(namespace).toMatchObject(isKept(new RegExp(`more in it than Crux has made.*${resource}$`)))
      expect((await agent.get(kind, 'foreign'))?.uid).toBe(made.uid)
      expect(await data.quotas()).toEqual([])
      await agent.cluster.delete({ kind, namespace: prefix, name: 'foreign' })
    }
    const claim = await data.create('PersistentVolumeClaim', 'foreign')
    expect(await data.find()).toMatchObject({
      claims: [],
      foreignObjects: [{ kind: 'PersistentVolumeClaim', name: 'foreign' }],
    })
    expect(await data.delete({ claims: ['foreign'], namespace: true })).toMatchObject({
      claims: [isKept(`the claim foreign was not made by this node for the prefix ${prefix}`)],
      namespace: isKept(`the namespace ${prefix} has objects that Crux did not make: PersistentVolumeClaim foreign`),
    })
    expect((await agent.get('PersistentVolumeClaim', 'foreign'))?.uid).toBe(claim.uid)
  })

  test('keeps a claim that another pod uses, and says which, while the others are deleted', async () => {
    await data.deploy()
    await data.deleteContainers()
    await agent.cluster.create(toPod('backup', 'web-data'))
    expect(await data.delete({ claims: ['web-data', 'web-cache'], namespace: true })).toMatchObject({
      claims: [isKept('the claim web-data is used by the pod backup'), isDeleted],
      namespace: isKept(/stays with its claims: web-data$/),
    })
    expect(await claims()).toEqual(['web-data'])
  })

  test('is still being deleted while the cluster waits, and says what for', async () => {
    await data.deploy()
    await data.deleteContainers()
    await setFinalizers('web-data', ['example.com/backup'])
    const reason = 'the cluster is deleting the claim web-data, and waits for example.com/backup'
    expect(await data.delete({ claims: ['web-data'] })).toMatchObject({
      claims: [{ state: DeletionState.DELETING, reason }],
    })
    await setFinalizers('web-data', [])
    await waitUntil('it is gone', async () => (await claims()).length === 1)
    expect(await claims()).toEqual(['web-cache'])
  })

  test('keeps a claim that was replaced since it was shown', async () => {
    await data.deploy()
    await data.deleteContainers()
    const value = { prefix: agent.owner.prefix, claims: [{ name: 'web-data', uid: 'of-the-previous-one' }] }
    expect(await agent.server.ask({ case: 'deletePrefixData', value })).toMatchObject({
      value: { claims: [isKept(/was replaced by another one/)] },
    })
    expect(await claims()).toEqual(names)
  })

  test('is never that of another team under the same prefix', async () => {
    await data.deploy()
    await data.deleteContainers()
    const other = await startClusterAgent({ prefix: agent.owner.prefix })
    try {
      const theirs = createPrefixData(other)
      const reason = `the namespace ${agent.owner.prefix} was not made by this node`
      expect(await theirs.find()).toMatchObject({ claims: [], namespaceReason: reason, foreignObjects: [] })
      expect(await theirs.delete({ claims: names, namespace: true })).toMatchObject({
        claims: names.map((name) =>
          isKept(`the claim ${name} was not made by this node for the prefix ${agent.owner.prefix}`),
        ),
        namespace: isKept(reason),
      })
      expect(await claims()).toEqual(names)
      expect((await data.namespace())?.deletedAt).toBeUndefined()
    } finally {
      await other.dispose()
    }
  })

  test('is deleted of a namespace that somebody else made, which stays', async () => {
    const { prefix } = agent.owner
    await agent.cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: prefix } })
    const labels = {
      ...toOwnLabels(prefix, 'web'),
      'dev.crux.team': agent.owner.teamId,
      'dev.crux.node': agent.owner.nodeId,
    }
    await data.create('PersistentVolumeClaim', 'web-data', {
      metadata: { name: 'web-data', namespace: prefix, labels },
    })
    const reason = `the namespace ${prefix} was not made by this node`
    expect(await data.find()).toMatchObject({ claims: [{ key: { name: 'web-data' } }], namespaceReason: reason })
    expect(await data.delete({ claims: ['web-data'], namespace: true })).toMatchObject({
      claims: [isDeleted],
      namespace: isKept(reason),
    })
    expect(await data.quotas()).toEqual([])
  })

  test('and a release exclude each other: the second one is refused', async () => {
    await data.deploy()
    await data.deleteContainers()
    await setFinalizers('web-cache', ['example.com/backup'])
    const deleting = data.delete({ claims: ['web-cache'] })
    await waitUntil('it has begun', async () => (await agent.get('PersistentVolumeClaim', 'web-cache'))?.deletedAt)
    expect((await data.start()).reason).toBe(
      `data of the prefix ${agent.owner.prefix} is being deleted: deploy again when that has ended`,
    )
    await setFinalizers('web-cache', [])
    expect(await deleting).toMatchObject({ claims: [isDeleted] })
    const starting = data.start()
    await waitUntil('it has begun', () => agent.get('Deployment', 'web'))
    expect(await data.tryToDelete({ claims: ['web-data'] })).toMatchObject({
      case: 'failure',
      value: { code: FailureCode.CONFLICT, message: expect.stringContaining(`A release to ${agent.owner.prefix}`) },
    })
    expect(await starting).toMatchObject({ successful: true })
    expect(await claims()).toEqual(names)
  })

  test('a workload of others keeps the namespace', async () => {
    await data.deploy()
    await data.deleteContainers()
    await agent.cluster.create(toWorkload(agent.owner.prefix, 'theirs', 'sleep 1000', { labels: {} }))
    expect(await data.delete({ claims: names, namespace: true })).toMatchObject({
      claims: [isDeleted, isDeleted],
      namespace: isKept(/has objects that Crux did not make: Deployment theirs$/),
    })
    expect((await agent.get('Deployment', 'theirs'))?.deletedAt).toBeUndefined()
  })
})

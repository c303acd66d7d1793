import { agentStateRights, type KubernetesRight } from '@crux/rules'
import { kubernetesMissing, storageAccount, storageMissing } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest'
import { openCluster } from '../src/engines/kubernetes/client/open-cluster.ts'
import { findAgentImage } from '../src/engines/kubernetes/rollout/agent-image.ts'
import { silent } from './kit/cluster.ts'
import { createAccount } from './kit/cluster-accounts.ts'
import { startClusterAgent } from './kit/cluster-agent.ts'
import { shell } from './kit/cluster-scripts.ts'
import { type Preparations, show, startPreparations } from './kit/preparations.ts'

const missing = kubernetesMissing()
const storageId = '019a7d3e-8c52-7f0b-9d4e-2f6a1b3c5d7e'
const volumes = [{ name: 'conf', path: '/conf', type: 'tmp' as const }]
const never = () => new AbortController().signal

describe.skipIf(missing)('files that cannot be copied into volumes on Kubernetes', () => {
  let started: Preparations | undefined
  beforeAll(async () => {
    started = await startPreparations()
  })
  afterAll(() => started?.dispose())
  /** A cluster that CRUX_TEST_KUBECONFIG names may be on another machine, from which nothing leads to this one. */
  const open = (context: TestContext): Preparations =>
    started ?? context.skip('the pods of this cluster reach no registry of this machine')

  const toFiles = (name: string, image: string, path = '/conf') => ({
    name,
    volumes,
    ...shell(show('/conf')),
    configContainer: { image, path, keepFiles: false, volume: 'conf' },
  })
  const toObjects = (name: string, bucket: string) => ({
    name,
    volumes,
    ...shell(show('/conf')),
    storage: { storageId, bucket, path: 'conf' },
  })

  /** @returns the reason, after it was seen that it is that of the release soon after the pod has it, and that nothing is left */
  const fail = async (context: TestContext, ...given: Parameters<Preparations['deploy']>): Promise<string> => {
    const { agent, deploy } = open(context)
    const { outcome, release } = await deploy(...given)
    expect(outcome.successful).toBe(false)
    expect(await agent.get('Deployment', given[0].name ?? '')).toBeUndefined()
    expect((await agent.list('Secret')).filter(({ name }) => name.startsWith(`${given[0].name}-`))).toEqual([])
    const events = JSON.stringify(release.key ? agent.server.listEvents(release.key) : [], (_, value) =>
      typeof value === 'bigint' ? Number(value) : value,
    )
    for (const secret of ['not-the-token', 'not-the-secret', storageAccount.secretKey])
      expect(events).not.toContain(secret)
    return outcome.reason
  }

  test('fail the release with what the registry says', async (context) => {
    const { closed, closedHost, host, publish } = open(context)
    const { image, pinned } = await publish('files', { '/conf/file': 'x' })
    expect(await fail(context, toFiles('path', image, '/missing'), pinned)).toBe(
      `the files of the volumes cannot be prepared: conf: the image ${host}/files has no /missing`,
    )
    const digest = await closed.push('private', '1', { bare: true, files: { '/conf/file': 'x' } })
    const hidden = `${closedHost}/private@${digest}`
    expect(await fail(context, toFiles('closed', hidden))).toBe(
      `the files of the volumes cannot be prepared: conf: the registry ${closedHost} refuses the image ${closedHost}/private@${digest} (401): check its credentials`,
    )
    const gone = `${host}/files@sha256:${'a'.repeat(64)}`
    expect(await fail(context, toFiles('gone', gone))).toContain(`does not have the image ${gone} (404)`)
  })

  test('fail the release with what the storage says', async (context) => {
    // The storage server is built from its published source, which needs Go; without it, this is counted as skipped.
    const storage = open(context).storage ?? context.skip(`it ${storageMissing()}`)
    await storage.createBucket('files')
    const access = { url: storage.podUrl, ...storageAccount }
    expect(await fail(context, toObjects('bucket', 'missing'), { storage: access })).toBe(
      'the files of the volumes cannot be prepared: conf: the storage has no bucket of that name',
    )
    expect(
      await fail(context, toObjects('keys', 'files'), { storage: { ...access, secretKey: 'not-the-secret' } }),
    ).toContain('conf: the storage refuses the secret key')
    expect(await fail(context, toObjects('prefix', 'files/none'), { storage: access })).toContain(
      'conf: the bucket has nothing under none/',
    )
    // The metadata service of a cloud would give a pod the rights of its machine.
    expect(
      await fail(context, toObjects('metadata', 'files'), { storage: { ...access, url: 'http://169.254.169.254' } }),
    ).toContain('169.254.169.254 is not an address of a storage')
  })

  test('fail the release when the volume is full', async (context) => {
    const { deploy, publish } = open(context)
    const { image, pinned } = await publish('large', { '/conf/file': 'x'.repeat(4 * 1_024 * 1_024) })
    const small = {
      ...toFiles('full', image),
      volumes: [{ ...volumes[0], name: 'conf', path: '/conf', type: 'mem' as const, size: '1Mi' }],
    }
    const { outcome } = await deploy(small, pinned)
    expect(outcome.reason).toBe('the files of the volumes cannot be prepared: conf: the volume is full (ENOSPC)')
  })

  test('are refused where pods do not reach the registry, or nobody can read the image', async (context) => {
    const digest = `sha256:${'a'.repeat(64)}`
    expect(await fail(context, toFiles('local', `localhost:5000/files@${digest}`))).toContain(
      'configContainer.image: On a cluster, the files are read by a pod, which does not reach the registry localhost:5000',
    )
    expect(await fail(context, toFiles('crux-prepare', `registry.example.com/files@${digest}`))).toContain(
      'name: The name crux-prepare is kept for the container that copies files into volumes',
    )
  })

  test('are refused with the reason when the image of the agent is not known', async (context) => {
    const { publish } = open(context)
    const { image, pinned } = await publish('files', { '/conf/file': 'x' })
    const outside = await startClusterAgent()
    try {
      const release = outside.release({ instances: [{ config: toFiles('web', image), ...pinned }] })
      const { reason } = await outside.server.deployAndWait(release)
      expect(reason).toMatch(
        /^Files are copied into volumes by the agent's image, which is not known: .*CRUX_AGENT_IMAGE/,
      )
      expect(await outside.list('Deployment')).toEqual([])
    } finally {
      await outside.dispose()
    }
  })

  test("are copied by the image of the agent's own pod, which it has a right to read", async (context) => {
    const { agent } = open(context)
    const namespace = await agent.createNamespace()
    await agent.admin.json({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/pods`,
      body: {
        metadata: { name: 'agent-pod' },
        spec: {
          containers: [
            { name: 'proxy', image: 'other:1' },
            { name: 'agent', image: 'registry.example.com/agent:1', imagePullPolicy: 'Never' },
          ],
        },
      },
    })
    const find = async (rights: readonly KubernetesRight[], pod = 'agent-pod') => {
      const { kubeconfig } = await createAccount(agent, namespace, { namespaces: { [namespace]: rights } })
      const cluster = await openCluster({ kubeconfig, log: silent })
      return findAgentImage(cluster, { image: undefined, namespace, pod }, never()).finally(() => cluster.close())
    }
    expect(await find(agentStateRights)).toEqual({ image: 'registry.example.com/agent:1', pullPolicy: 'Never' })
    await expect(find(agentStateRights, 'gone')).rejects.toThrow(
      `the namespace ${namespace} has no pod gone of the agent`,
    )
    const others = agentStateRights.filter(({ resources }) => !resources.includes('pods'))
    await expect(find(others)).rejects.toThrow(`no right to get pods in the namespace ${namespace}`)
  })
})

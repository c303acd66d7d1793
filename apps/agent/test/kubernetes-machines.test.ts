import { randomUUID } from 'node:crypto'
import { create } from '@bufbuild/protobuf'
import { type MachineList, MachineListSchema } from '@crux/agent-protocol'
import { agentStateRights, clusterRights, deploymentRights, limitedRights } from '@crux/rules'
import { kubernetesImage, kubernetesMissing } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAccount } from './kit/cluster-accounts.ts'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()
const mebibytes = (count: number) => BigInt(count * 2 ** 20)
/** Longer than the agent keeps a list. */
const timeoutMs = 30_000

type Page = { search?: string; skip?: number; take?: number }

async function askMachines(agent: ClusterAgent, page: Page = {}): Promise<MachineList> {
  const answer = await agent.server.ask({ case: 'listMachines', value: { take: 100, ...page } })
  if (answer.case !== 'machines') throw new Error(`no machines: ${JSON.stringify(answer.value)}`)
  return create(MachineListSchema, answer.value)
}

describe.skipIf(missing)('the machines of a cluster', () => {
  let agent: ClusterAgent
  let namespace: string
  const name = `machine-${randomUUID().slice(0, 8)}`
  const path = `/api/v1/nodes/${name}`
  beforeAll(async () => {
    agent = await startClusterAgent()
    namespace = await agent.createNamespace()
    // A machine of which no kubelet reports: what is tested here cannot disturb the pods of other tests.
    const metadata = { name }
    const spec = { unschedulable: true, taints: [{ key: 'crux-test', effect: 'NoSchedule' }] }
    await agent.admin.json({ method: 'POST', path: '/api/v1/nodes', body: { metadata, spec } })
    await patch('/status', {
      allocatable: { cpu: '1930m', memory: '4Gi', pods: '110' },
      capacity: { cpu: '2', memory: '5Gi', pods: '110' },
      nodeInfo: { kubeletVersion: 'v1.99.1', architecture: 'riscv64' },
    })
  })
  afterAll(async () => {
    await agent?.admin.json({ method: 'DELETE', path }).catch(() => undefined)
    await agent?.dispose()
  })

  const patch = (rest: '' | '/status', fields: Record<string, unknown>) =>
    agent.admin.json({
      method: 'PATCH',
      path: `${path}${rest}`,
      contentType: 'application/merge-patch+json',
      body: rest === '' ? fields : { status: fields },
    })
  const setConditions = (conditions: { type: string; status: string; reason?: string; message?: string }[]) =>
    patch('/status', { conditions: conditions.map((one) => ({ reason: '', message: '', ...one })) })
  const find = async () => (await askMachines(agent, { search: name })).machines[0]
  const addPod = (pod: string, requests: Record<string, string>) =>
    agent.admin.json({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/pods`,
      body: {
        metadata: { name: pod },
        spec: {
          nodeName: name,
          terminationGracePeriodSeconds: 0,
          tolerations: [{ operator: 'Exists' }],
          containers: [{ name: 'one', image: kubernetesImage, resources: { requests } }],
        },
      },
    })

  test('are listed with what they have, and the sums of the whole cluster', async () => {
    await setConditions([{ type: 'Ready', status: 'True', reason: 'KubeletReady' }])
    const list = await waitUntil(
      'it is listed',
      async () => {
        const found = await askMachines(agent)
        return found.machines.some((one) => one.name === name && one.ready) ? found : undefined
      },
      timeoutMs,
    )
    expect(list).toMatchObject({ missingRight: '', requestsKnown: true, matching: list.total })
    const { objects } = await agent.cluster.list('Node', {})
    expect(list.machines.map((one) => one.name).sort()).toEqual(objects.map((one) => one.name).sort())
    expect(list.machines.find((one) => one.name === name)).toMatchObject({
      cordoned: true,
      problems: [],
      kubeletVersion: 'v1.99.1',
      architecture: 'riscv64',
      allocatable: { cpuMillis: 1_930n, memoryBytes: mebibytes(4_096), pods: 110n },
    })
    const real = list.machines.filter((one) => one.name !== name)
    for (const { allocatable, kubeletVersion, ready } of real) {
      expect(kubeletVersion).toMatch(/^v1\./)
      expect(ready).toBe(true)
      expect(allocatable?.cpuMillis).toBeGreaterThan(0n)
      expect(allocatable?.memoryBytes).toBeGreaterThan(mebibytes(100))
    }
    const sum = list.machines.reduce((total, { allocatable }) => total + (allocatable?.memoryBytes ?? 0n), 0n)
    expect(list.allocatable?.memoryBytes).toBe(sum)
  })

  test('have the sum of what their pods request, as pods come and go', async () => {
    await addPod('small', { cpu: '250m', memory: '64Mi' })
    await addPod('large', { cpu: '1', memory: '1Gi' })
    await addPod('modest', {})
    await waitUntil('three pods', async () => (await find())?.requested?.pods === 3n, timeoutMs)
    expect((await find())?.requested).toMatchObject({ cpuMillis: 1_250n, memoryBytes: mebibytes(1_088), pods: 3n })
    // A pod that has ended takes nothing any more.
    await agent.admin.json({
      method: 'PATCH',
      path: `/api/v1/namespaces/${namespace}/pods/large/status`,
      contentType: 'application/merge-patch+json',
      body: { status: { phase: 'Succeeded' } },
    })
    await agent.admin.json({ method: 'DELETE', path: `/api/v1/namespaces/${namespace}/pods/modest` })
    await waitUntil('one pod', async () => (await find())?.requested?.pods === 1n, timeoutMs)
    expect((await find())?.requested).toMatchObject({ cpuMillis: 250n, memoryBytes: mebibytes(64), pods: 1n })
  })

  test('say why they are not ready, and come first then', async () => {
    await setConditions([
      { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: 'the runtime is down' },
      { type: 'DiskPressure', status: 'True', reason: 'KubeletHasDiskPressure', message: 'the disk is full' },
      { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory' },
      { type: 'OfAPlugin', status: 'True', reason: 'Fine' },
    ])
    await waitUntil('it is not ready', async () => (await find())?.ready === false, timeoutMs)
    expect(await find()).toMatchObject({
      ready: false,
      problems: [
        { type: 'NotReady', reason: 'KubeletNotReady', message: 'the runtime is down' },
        { type: 'DiskPressure', reason: 'KubeletHasDiskPressure', message: 'the disk is full' },
      ],
    })
    const list = await askMachines(agent)
    expect(list.machines[0]?.name).toBe(name)
    expect(list.ready).toBe(list.total - 1)
  })

  test('are no more shown as cordoned when they are not, and are gone when they are', async () => {
    await patch('', { spec: { unschedulable: false } })
    await waitUntil('it is not cordoned', async () => (await find())?.cordoned === false, timeoutMs)
    await agent.admin.json({ method: 'DELETE', path })
    await waitUntil('it is gone', async () => (await find()) === undefined, timeoutMs)
  })

  test('are searched for and paged by the agent, which lists what is asked for', async () => {
    const all = await askMachines(agent, { take: 250 })
    const [first] = all.machines
    const found = await askMachines(agent, { search: first?.name.toUpperCase().slice(1) })
    expect(found.machines.map((one) => one.name)).toContain(first?.name)
    expect(found.total).toBe(all.total)
    expect(await askMachines(agent, { search: 'no machine has this name' })).toMatchObject({
      machines: [],
      matching: 0,
      total: all.total,
      allocatable: all.allocatable,
    })
    expect((await askMachines(agent, { skip: all.total })).machines).toEqual([])
  })
})

describe.skipIf(missing)('an agent that may not list machines', () => {
  const state = { '': agentStateRights }
  let started: ClusterAgent[] = []
  afterAll(async () => {
    for (const one of started) await one.dispose()
    started = []
  })

  async function startWith(rights: 'earlier' | 'limited') {
    const home = await startClusterAgent()
    started.push(home)
    const stateNamespace = await home.createNamespace()
    const namespaces = [await home.createNamespace()]
    const { kubeconfig } = await createAccount(
      home,
      stateNamespace,
      rights === 'earlier'
        ? {
            cluster: [...deploymentRights, ...clusterRights.filter(({ resources }) => !resources.includes('nodes'))],
            namespaces: { [stateNamespace]: state[''] },
          }
        : {
            namespaces: {
              [stateNamespace]: state[''],
              ...Object.fromEntries(namespaces.map((one) => [one, [...deploymentRights, ...limitedRights]])),
            },
          },
    )
    const agent = await startClusterAgent({
      kubeconfig,
      stateNamespace,
      ...(rights === 'limited' && { namespaces }),
    })
    started.push(agent)
    return { agent, home, stateNamespace }
  }

  test('names the right and its namespace, and shows everything else', async () => {
    const { agent, stateNamespace } = await startWith('earlier')
    expect(await askMachines(agent)).toMatchObject({
      missingRight:
        'The agent has no right to list nodes in the whole cluster: grant its service account the verb "list" on the resource "nodes"',
      agentNamespace: stateNamespace,
      machines: [],
      total: 0,
    })
    expect(await agent.server.ask({ case: 'listContainers', value: {} })).toMatchObject({ case: 'containers' })
  })

  test('of some namespaces names it too, and knows nothing of requests once it has it', async () => {
    const { agent, home, stateNamespace } = await startWith('limited')
    expect((await askMachines(agent)).missingRight).toContain('no right to list nodes in the whole cluster')
    // What the console proposes to admins.
    const rbac = '/apis/rbac.authorization.k8s.io/v1'
    const metadata = { name: `crux-test-${randomUUID()}` }
    const [account] = (
      (await agent.admin.json({
        path: `/api/v1/namespaces/${stateNamespace}/serviceaccounts`,
      })) as { items: { metadata: { name: string } }[] }
    ).items.filter((one) => one.metadata.name !== 'default')
    const post = (resource: string, body: object) =>
      home.admin.json({ method: 'POST', path: `${rbac}/${resource}`, body: { metadata, ...body } })
    await post('clusterroles', { rules: [{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }] })
    await post('clusterrolebindings', {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name: account?.metadata.name, namespace: stateNamespace }],
    })
    try {
      await waitUntil('they are listed', async () => (await askMachines(agent)).total > 0)
      const { machines, missingRight, requestsKnown } = await askMachines(agent)
      expect({ missingRight, requestsKnown }).toEqual({ missingRight: '', requestsKnown: false })
      expect(machines.every(({ allocatable }) => allocatable && allocatable.cpuMillis > 0n)).toBe(true)
    } finally {
      for (const resource of ['clusterroles', 'clusterrolebindings'])
        await home.admin.json({ method: 'DELETE', path: `${rbac}/${resource}/${metadata.name}` })
    }
  })
})

import { randomUUID } from 'node:crypto'
import { agentStateRights, deploymentRights, limitedRights } from '@crux/rules'
import { kubernetesMissing } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestCluster, type TestCluster } from './kit/cluster.ts'
import { createAccount } from './kit/cluster-accounts.ts'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { ports, serve } from './kit/cluster-scripts.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()

describe.skipIf(missing)('an agent that is limited to some namespaces', () => {
  let testCluster: TestCluster
  let agent: ClusterAgent
  let stateNamespace: string
  let namespaces: string[]
  let outside: string
  beforeAll(async () => {
    testCluster = await openTestCluster()
    stateNamespace = await testCluster.createNamespace()
    namespaces = [await testCluster.createNamespace(), await testCluster.createNamespace()]
    outside = await testCluster.createNamespace()
    const rights = [...deploymentRights, ...limitedRights]
    const { kubeconfig } = await createAccount(testCluster, stateNamespace, {
      namespaces: {
        [stateNamespace]: agentStateRights,
        ...Object.fromEntries(namespaces.map((namespace) => [namespace, rights])),
      },
    })
    agent = await startClusterAgent({ kubeconfig, stateNamespace, namespaces })
  })
  afterAll(async () => {
    await agent?.dispose()
    await testCluster?.dispose()
  })

  const script = "trap 'exit 0' TERM; while true; do sleep 0.1; done"
  const deploy = (prefix: string) =>
    agent.server.deployAndWait(
      agent.release({
        ...{ owner: { ...agent.owner, prefix } },
        instances: [
          {
            instanceId: `web-${prefix}`,
            config: { name: 'web', commands: [{ key: '/bin/sh' }, { key: '-c' }], args: [{ key: script }] },
          },
        ],
      }),
    )

  test('deploys to each of them with rights in these alone, lists them together and watches them', async () => {
    const streamId = randomUUID()
    agent.server.send({ case: 'watchContainers', value: { streamId } })
    const seen = () =>
      new Set(
        agent.server.containerUpdates
          .filter((update) => update.streamId === streamId)
          .flatMap(({ containers }) => containers.map(({ ref }) => ref?.prefix)),
      )
    for (const prefix of namespaces) expect(await deploy(prefix)).toMatchObject({ successful: true, reason: '' })
    await waitUntil('both are seen', () => namespaces.every((prefix) => seen().has(prefix)))
    const listed = await agent.server.ask({ case: 'listContainers', value: {} })
    const prefixes = listed.case === 'containers' ? listed.value.containers.map(({ ref }) => ref?.prefix) : []
    expect(prefixes.sort()).toEqual([...namespaces].sort())
  })

  test('refuses a release to any other with a sentence that names the setting', async () => {
    const { reason, successful } = await deploy(outside)
    expect(successful).toBe(false)
    expect(reason).toBe(
      `the agent is limited to the namespaces ${namespaces.join(', ')} by CRUX_NAMESPACES: choose one of them as the prefix, or add ${outside} to the setting`,
    )
    expect((await testCluster.cluster.list('Deployment', { namespace: outside })).objects).toEqual([])
  })
})

describe.skipIf(missing)('an agent of a namespace that does not exist', () => {
  let testCluster: TestCluster
  let agent: ClusterAgent
  beforeAll(async () => {
    testCluster = await openTestCluster()
  })
  afterAll(async () => {
    await agent?.dispose()
    await testCluster?.dispose()
  })

  test('deploys to the other ones and shows them, and sees it when it is there and when it is gone', async () => {
    const one = await testCluster.createNamespace()
    const later = testCluster.newNamespace()
    const rights = [...deploymentRights, ...limitedRights]
    const { grant, kubeconfig } = await createAccount(testCluster, one, { namespaces: { [one]: rights } })
    agent = await startClusterAgent({ kubeconfig, namespaces: [one, later], rootDomain: 'apps.example.com' })
    const deploy = (prefix: string) =>
      agent.server.deployAndWait(
        agent.release({
          ...{ owner: { ...agent.owner, prefix }, cluster: { ingressClass: 'nginx' } },
          // Its route is compared with those of all namespaces.
          instances: [
            { instanceId: `web-${prefix}`, config: { name: 'web', ...serve('one'), ports, expose: 'expose' as const } },
          ],
        }),
      )
    const listPrefixes = async () => {
      const listed = await agent.server.ask({ case: 'listContainers', value: {} })
      return listed.case === 'containers' ? listed.value.containers.map(({ ref }) => ref?.prefix).sort() : []
    }
    expect(await deploy(one)).toMatchObject({ successful: true, reason: '' })
    expect(await listPrefixes()).toEqual([one])
    expect((await deploy(later)).reason).toContain(later)

    await testCluster.cluster.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: later } })
    await grant(later, rights)
    await waitUntil('it deploys there', async () => (await deploy(later)).successful, 60_000)
    await waitUntil('both are shown', async () => (await listPrefixes()).length === 2, 30_000)

    await testCluster.cluster.delete({ kind: 'Namespace', namespace: '', name: later })
    await waitUntil('one is shown', async () => String(await listPrefixes()) === one, 60_000)
    expect(await deploy(one)).toMatchObject({ successful: true, reason: '' })
  })
})

import { agentStateRights, clusterRights, deploymentRights } from '@crux/rules'
import { kubernetesMissing } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestCluster, type TestCluster } from './kit/cluster.ts'
import { createAccount } from './kit/cluster-accounts.ts'
import { type ClusterAgent, startClusterAgent } from './kit/cluster-agent.ts'
import { ports, serve, shell } from './kit/cluster-scripts.ts'

const missing = kubernetesMissing()

describe.skipIf(missing)('the rights of an agent', () => {
  let testCluster: TestCluster
  let agent: ClusterAgent
  let account: Awaited<ReturnType<typeof createAccount>>
  beforeAll(async () => {
    testCluster = await openTestCluster()
    const namespace = await testCluster.createNamespace()
    account = await createAccount(testCluster, namespace, {
      cluster: [...deploymentRights, ...clusterRights],
      namespaces: { [namespace]: agentStateRights },
    })
    agent = await startClusterAgent({ kubeconfig: account.kubeconfig, stateNamespace: namespace })
  })
  afterAll(async () => {
    await agent?.dispose()
    await account?.deleteRights()
    await testCluster?.dispose()
  })

  test('are enough to deploy, put back and clean up routes, in a namespace that somebody else made', async () => {
    const prefix = await testCluster.createNamespace()
    const full = {
      ...serve('one'),
      ports,
      expose: 'expose' as const,
      routing: { domain: `${prefix}.example.com` },
      environment: [{ key: 'A', value: '1' }],
      secrets: [{ key: 'B', required: true, encrypted: true, value: await agent.seal('hidden') }],
      volumes: [{ name: 'data', path: '/data', size: '1Mi' }],
    }
    const job = { name: 'job', ...shell('exit 0'), expectedState: { state: 'exited' as const } }
    const instances = [{ instanceId: 'one', config: { name: 'web', ...full } }]
    const previous = [{ containerName: `${prefix}-web`, instanceId: 'one' }]
    const toRelease = (number: number, more: Partial<Parameters<ClusterAgent['release']>[0]>) =>
      agent.release({
        deploymentId: 'rights',
        number,
        owner: { ...agent.owner, prefix },
        cluster: { ingressClass: 'nginx', foreignNamespaces: [prefix] },
        instances,
        previous,
        ...more,
      })
    const failing = [{ instanceId: 'one', config: { name: 'web', ...full, ...shell('exit 1') } }]
    const releases = [
      { release: toRelease(1, { previous: [] }), expected: { successful: true, reason: '' } },
      { release: toRelease(2, { instances: failing }), expected: { successful: false, previousRestored: true } },
      {
        release: toRelease(3, { instances: [{ instanceId: 'two', config: job }] }),
        expected: { successful: true, reason: '' },
      },
    ]
    for (const { expected, release } of releases) {
      expect(await agent.server.deployAndWait(release)).toMatchObject(expected)
      const lines = agent.server.toLines(release)
      expect(lines.join('\n')).not.toMatch(/no right|could not be/)
    }
    const left = await Promise.all(
      (['Deployment', 'Service', 'Ingress', 'ConfigMap', 'Secret', 'PersistentVolumeClaim'] as const).map((kind) =>
        agent.list(kind, prefix),
      ),
    )
    expect(left.flat().map(({ name: object }) => object)).toEqual(['crux-node', 'kube-root-ca.crt', 'web-data'])
  })
})

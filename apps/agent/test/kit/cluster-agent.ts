import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Release } from '@crux/agent-protocol'
import { kubernetesImage } from '@crux/test-kit'
import { createMessage, encrypt, readKey } from 'openpgp'
import type { ClusterObject, ObjectKind } from '../../src/engines/kubernetes/cluster/cluster.ts'
import { type AgentOptions, spawnAgent, startTestAgent } from './agents.ts'
import { openTestCluster } from './cluster.ts'
import { getPath } from './cluster-objects.ts'
import { FakeServer } from './fake-server.ts'
import { type InstanceInput, makeRelease, type ReleaseInput } from './releases.ts'
import { waitForAnswer } from './wait-for-answer.ts'
import { waitUntil } from './wait-until.ts'

type Instance = Partial<InstanceInput> & { config: InstanceInput['config'] }

/** Besides the prefix, the settings of the agent. */
type ClusterAgentOptions = Pick<
  AgentOptions,
  'kubeconfig' | 'stateNamespace' | 'namespaces' | 'rootDomain' | 'agentImage' | 'authorityFile'
> & {
  prefix?: string
}

/** The real agent, connected to a cluster and to a server of the test, with a prefix that no other test uses. */
export async function startClusterAgent({ prefix, ...given }: ClusterAgentOptions = {}) {
  const testCluster = await openTestCluster()
  const { cluster } = testCluster
  const nodeId = randomUUID()
  const owner = {
    teamId: randomUUID(),
    projectId: randomUUID(),
    nodeId,
    prefix: prefix ?? testCluster.newNamespace(),
  }
  const dataDir = await mkdtemp(join(tmpdir(), 'crux-agent-'))
  const kubeconfig = given.kubeconfig ?? testCluster.kubeconfig
  const server = new FakeServer()
  await server.start()
  server.scope = { teamId: owner.teamId, nodeId }
  const settings = { ...given, dataDir, nodeId, kubeconfig }
  let agent = await startTestAgent(server, { ...settings, token: server.newInstallToken() })
  await server.waitForLink()
  const list = async (kind: ObjectKind, namespace = owner.prefix): Promise<ClusterObject[]> =>
    (await cluster.list(kind, { namespace })).objects
  return {
    ...testCluster,
    dataDir,
    server,
    owner,
    list,
    get: (kind: ObjectKind, name: string) => cluster.get({ kind, namespace: owner.prefix, name }),
    /** A release of the image that every node of the cluster has, unless an instance names another one. */
    release: ({
      instances,
      ...rest
    }: Omit<ReleaseInput, 'owner' | 'instances'> & { owner?: ReleaseInput['owner']; instances: Instance[] }): Release =>
      makeRelease({
        owner,
        ...rest,
        instances: instances.map((instance) => ({
          image: kubernetesImage,
          localOnly: instance.image === undefined,
          ...instance,
        })),
      }),
    /** Pods that are not on their way out. */
    async pods() {
      return (await list('Pod')).filter(({ deletedAt }) => !deletedAt)
    },
    /** Waits until the service `web` gives this answer. */
    async waitForAnswer(text: string) {
      const service = await cluster.get({ kind: 'Service', namespace: owner.prefix, name: 'web' })
      await waitForAnswer(`http://${getPath(service, 'spec', 'clusterIP')}/`, text)
    },
    /** Limits the namespace, and waits until the cluster counts what is in it. */
    async setQuota(hard: Record<string, string>) {
      const path = `/api/v1/namespaces/${owner.prefix}/resourcequotas`
      await testCluster.admin.json({ method: 'POST', path, body: { metadata: { name: 'quota' }, spec: { hard } } })
      await waitUntil('the quota is counted', async () =>
        JSON.stringify(await testCluster.admin.json({ path: `${path}/quota` })).includes('"used"'),
      )
    },
    /** A secret's value as a browser encrypts it, for the agent's key. */
    async seal(text: string) {
      const encryptionKeys = await readKey({ armoredKey: server.links.at(-1)?.publicKey ?? '' })
      return String(await encrypt({ message: await createMessage({ text }), encryptionKeys }))
    },
    async restartAgent() {
      await agent.stop()
      agent = await startTestAgent(server, settings)
      await server.waitForLink()
    },
    stopAgent: () => agent.stop(),
    /** The same agent as a process of its own, to be killed. `stopAgent` comes before it. */
    spawnAgent: () => spawnAgent(server, settings),
    async dispose() {
      await agent.stop()
      await server.stop()
      await testCluster.dispose()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

export type ClusterAgent = Awaited<ReturnType<typeof startClusterAgent>>

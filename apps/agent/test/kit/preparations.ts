import type { Release } from '@crux/agent-protocol'
import {
  findKubernetesMachine,
  type Registry,
  startKubernetes,
  startRegistry,
  startStorage,
  storageMissing,
  type TestStorage,
} from '@crux/test-kit'
import type { ClusterObject } from '../../src/engines/kubernetes/cluster/cluster.ts'
import { type ClusterAgent, startClusterAgent } from './cluster-agent.ts'
import { loadAgentImage, openClusterServices } from './cluster-services.ts'
import type { InstanceInput, ReleaseInput } from './releases.ts'
import { waitUntil } from './wait-until.ts'

/** A script that shows the files of a directory with their rights and contents, and waits. */
export const show = (path: string) =>
  `trap 'exit 0' TERM; cd ${path} && find . -type f | sort | while read f; do echo "$f $(stat -c %a "$f") $(cat "$f")"; done; echo end; sleep 1000000 & wait`

/** An agent whose image the cluster has, and registries and a storage of this machine that its pods reach. */
export async function startPreparations() {
  const machine = await findKubernetesMachine((await startKubernetes()).kubeconfig)
  if (!machine) return undefined
  const [services, registry, closed, agentImage, storage] = await Promise.all([
    openClusterServices(machine),
    startRegistry(),
    startRegistry({ auth: true }),
    loadAgentImage(machine),
    storageMissing() === undefined ? startStorage() : undefined,
  ])
  const toPort = ({ host }: Registry | TestStorage) => Number(host.split(':')[1])
  const host = await services.reachByTls(toPort(registry))
  const closedHost = await services.reachByTls(toPort(closed))
  const storageUrl = storage && `http://${await services.reach(toPort(storage))}`
  const { authorityFile } = services
  const agent = await startClusterAgent({ agentImage, authorityFile })
  const deploy = async (
    config: InstanceInput['config'],
    more: Partial<InstanceInput> = {},
    rest: Partial<ReleaseInput> = {},
  ) => {
    const instances = [{ config: { stopGracePeriodSeconds: 1, ...config }, ...more }]
    const release = agent.release({ ...rest, instances })
    return { release, outcome: await agent.server.deployAndWait(release, 60_000) }
  }
  return {
    agent,
    machine,
    agentImage,
    authorityFile,
    registry,
    /** Leads an address that pods reach to a port of this machine's loopback. */
    reach: services.reach,
    host,
    closed,
    closedHost,
    storage: storage && storageUrl ? { ...storage, podUrl: storageUrl } : undefined,
    /** An image with files alone, by the digest that a release has resolved. */
    async publish(name: string, files: Record<string, string>, links: Record<string, string> = {}) {
      const digest = await registry.push(name, '1', { bare: true, files, links })
      const image = `${host}/${name}:1`
      return { image, digest, pinned: { preparationDigests: { [image]: digest } } }
    },
    deploy,
    async succeed(...given: Parameters<typeof deploy>): Promise<Release> {
      const { outcome, release } = await deploy(...given)
      if (!outcome.successful) throw new Error(outcome.reason)
      return release
    },
    /** What the newest pod of a container shows of its files. */
    readFiles: (name: string) => waitUntil(`the files of ${name}`, () => readShown(agent, name)),
    async dispose() {
      await agent.dispose()
      await services.close()
      await Promise.all([registry.remove(), closed.remove(), storage?.dispose()])
    },
  }
}

export type Preparations = NonNullable<Awaited<ReturnType<typeof startPreparations>>>

/** What a container of a pod has written. */
export async function readLog(
  { cluster }: Pick<ClusterAgent, 'cluster'>,
  { name, namespace }: Pick<ClusterObject, 'name' | 'namespace'>,
  container: string,
): Promise<string[]> {
  const lines: string[] = []
  for await (const chunk of cluster.readLog({ namespace, name, container }, { take: 100, follow: false }))
    lines.push(...chunk.map(({ text }) => text))
  return lines
}

async function readShown(agent: ClusterAgent, name: string): Promise<string[] | undefined> {
  const [pod] = (await agent.pods())
    .filter(({ labels }) => labels['dev.crux.name'] === name)
    .sort((one, other) => other.createdAt.getTime() - one.createdAt.getTime())
  if (!pod) return undefined
  const lines = await readLog(agent, pod, name)
  return lines.includes('end') ? lines.filter((line) => line !== 'end' && !line.startsWith('./.crux')) : undefined
}

import { setFlagsFromString } from 'node:v8'
import type { Logger } from '@crux/service-kit'
import { pause } from '../../concurrency/pause.ts'
import { getMessage, isEngineError } from '../../errors.ts'
import type { Records } from '../../state/agent-state.ts'
import type { Engine } from '../engine.ts'
import { RegistryDigests } from '../images/registry-digests.ts'
import { isOwnedBy } from '../labels.ts'
import { retryWhileUnavailable } from '../retry-while-unavailable.ts'
import { openCluster } from './client/open-cluster.ts'
import type { Cluster } from './cluster/cluster.ts'
import { limitToNamespaces } from './cluster/limited-cluster.ts'
import { deletePrefixData } from './deletion/delete-prefix-data.ts'
import { findPrefixData } from './deletion/find-prefix-data.ts'
import { LockedNamespaces } from './locks/locked-namespaces.ts'
import { PrefixUse } from './locks/prefix-use.ts'
import { createMachineList } from './machines/machine-list.ts'
import { findAgentImage } from './rollout/agent-image.ts'
import { answerDrift } from './rollout/answer-drift.ts'
import { previousWorkloadsRun } from './rollout/previous-workloads.ts'
import type { ClusterNode } from './rollout/release-context.ts'
import { runRelease } from './rollout/run-release.ts'
import { createWorkloadView } from './workloads/workload-view.ts'

export interface KubernetesEngineOptions {
  /** Path of a kubeconfig; undefined: the service account of the agent's own pod. */
  kubeconfig: string | undefined
  /** The namespace of the agent's own objects; undefined when it has none in the cluster. */
  ownNamespace: string | undefined
  /** The only namespaces that are read and changed; undefined for the whole cluster. */
  namespaces: readonly string[] | undefined
  /** The agent's own image in the cluster; undefined: that of the pod in which it runs. */
  agentImage: string | undefined
  /** Certificates that the agent trusts besides the usual ones, as PEM. */
  authority: string | undefined
  decrypt: (message: string) => Promise<string>
  /** The domain of exposed containers that name none. */
  rootDomain: string | undefined
  /** The address of Crux, whose host name no container may take. */
  serverUrl: string
  /** Where the agent remembers what the process that follows has to undo. */
  records: Pick<Records, 'read' | 'write' | 'remove'>
  /** False when another process may work for the node: nothing may be changed in the cluster any more. */
  mayChange: () => boolean
  log: Logger
  /** Ends the wait for an API server that does not answer. */
  signal: AbortSignal
}

/** Waits until the API server answers. @returns undefined when the signal aborts before */
export async function openKubernetesEngine(options: KubernetesEngineOptions): Promise<Engine | undefined> {
  // The agent's image asks for a small heap. While a large cluster is listed, collecting its megabytes would take three times as long as
  // reading them.
  setFlagsFromString('--no-optimize-for-size')
  const { agentImage: image, authority, log, namespaces, ownNamespace, signal } = options
  const { decrypt, records, rootDomain, serverUrl } = options
  const whole = await openWhenAvailable(options)
  if (!whole) return undefined
  const cluster = namespaces ? limitToNamespaces(whole, namespaces, log) : whole
  const description = await cluster.describe()
  const digests = new RegistryDigests()
  const use = new PrefixUse()
  const node: ClusterNode = {
    cluster,
    ownNamespace,
    namespaces,
    use,
    decrypt,
    digests,
    // The agent's own namespace is none of those that it deploys to.
    findAgentImage: (ending) => findAgentImage(whole, { image, namespace: ownNamespace }, ending),
    authority,
    log,
    rootDomain,
    serverUrl,
  }
  const locked = new LockedNamespaces(cluster, records, log)
  await locked.unlockLeft(signal)
  const view = createWorkloadView(cluster, log)
  return {
    ...view,
    description,
    async removeAllOf(owner) {
      const owned = await view.listOwned((labels) => isOwnedBy({ ...labels }, owner))
      const results = await Promise.allSettled(owned.map((id) => view.remove(id)))
      const failed = results.find((result) => result.status === 'rejected')
      if (failed) throw failed.reason
    },
    // The nodes of a cluster manage their images themselves, and publish no ports.
    listImages: async () => [],
    removeImages: async (ids) => ({
      imageIds: [],
      freedBytes: 0n,
      kept: ids.map((imageId) => ({ imageId, reason: "the cluster's nodes manage their images themselves" })),
    }),
    findPortHolders: async () => [],
    listMachines: createMachineList({
      cluster: whole,
      ownNamespace,
      sumRequests: namespaces ? undefined : view.sumRequests,
    }),
    findDrift: (release) => answerDrift(node, release, signal),
    findPrefixData: (target) => findPrefixData(node, target),
    deletePrefixData: (target, chosen) =>
      use.duringDeletion(target.prefix, () => deletePrefixData({ node, locked, signal }, target, chosen)),
    prepareTarget: async () => undefined,
    releaseTarget: async () => undefined,
    applyRelease: (journal, control) =>
      use.duringRelease(journal.release.owner?.prefix ?? '', () => runRelease(journal, node, control)),
    previousContainersRun: (release, signal) =>
      retryWhileUnavailable(() => previousWorkloadsRun(cluster, release), signal),
    startUpkeep: () => undefined,
    reconcile: () => undefined,
    releaseEnded: () => undefined,
    async close() {
      view.close()
      digests.close()
      cluster.close()
    },
  }
}

/** Tries until the API server answers or the agent is stopped. A cluster that refuses the agent ends it with the reason. */
async function openWhenAvailable({
  kubeconfig,
  log,
  mayChange,
  signal,
}: KubernetesEngineOptions): Promise<Cluster | undefined> {
  let lastReason = ''
  for (let waitMs = 250; !signal.aborted; waitMs = Math.min(5_000, waitMs * 2)) {
    const cluster = await openCluster({ ...(kubeconfig !== undefined && { kubeconfig }), mayChange, log })
    try {
      await cluster.describe()
      return cluster
    } catch (error) {
      cluster.close()
      if (!isEngineError(error, 'unavailable')) throw error
      const reason = getMessage(error)
      if (reason !== lastReason) log.warn({ reason }, 'waiting for the cluster')
      lastReason = reason
      await pause(waitMs, signal).catch(() => undefined)
    }
  }
  return undefined
}

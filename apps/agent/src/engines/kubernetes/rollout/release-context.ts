import type { Owner, Release } from '@crux/agent-protocol'
import type { Logger } from '@crux/service-kit'
import type { Journal } from '../../../journal/journal.ts'
import type { ProgressReporter } from '../../../journal/progress-reporter.ts'
import type { ReleaseControl } from '../../engine.ts'
import type { RegistryDigests } from '../../images/registry-digests.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { PrefixUse } from '../locks/prefix-use.ts'
import type { AgentImage } from '../plan/preparation.ts'

/** The parts of this engine that all releases of the node share. */
export interface ClusterNode {
  readonly cluster: Cluster
  /** The namespace of the agent's own objects; undefined when it has none in the cluster. */
  readonly ownNamespace: string | undefined
  /** Keeps releases and deletions of a prefix apart. */
  readonly use: PrefixUse
  /** The only namespaces that the agent has rights in, which exist already; undefined for the whole cluster. */
  readonly namespaces: readonly string[] | undefined
  readonly decrypt: (message: string) => Promise<string>
  readonly digests: Pick<RegistryDigests, 'find'>
  /** @throws EngineError `refused` when it is not known */
  readonly findAgentImage: (signal: AbortSignal) => Promise<AgentImage>
  /** Certificates that the agent trusts besides the usual ones, as PEM. */
  readonly authority: string | undefined
  readonly log: Logger
  /** The domain of exposed containers that name none. */
  readonly rootDomain: string | undefined
  /** The address of Crux, whose host name no container may take. */
  readonly serverUrl: string
}

/** What one release is about, from its start to its end. Nothing in it changes; what changes is in the journal. */
export interface ReleaseContext {
  readonly node: ClusterNode
  readonly journal: Journal
  readonly release: Release
  readonly owner: Owner
  readonly progressReporter: ProgressReporter
  readonly control: ReleaseControl
  readonly signal: AbortSignal
}

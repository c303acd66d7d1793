import type { Logger } from '@crux/service-kit'
import type { AgentState } from '../../../state/agent-state.ts'
import type { LeaderElection } from '../../../state/leader-election.ts'
import { openStateObjects } from '../client/state-objects.ts'
import { openLeaseElection } from './lease-election.ts'
import { openSecretLogs } from './secret-logs.ts'
import { openSecretRecords } from './secret-records.ts'

/** What the agent of a cluster keeps in a namespace of the cluster, and which of its processes works. */
export interface ClusterState {
  namespace: string
  election: LeaderElection
  /**
   * Opens the state for one turn.
   *
   * @param signal ends the wait for an API server that does not answer
   * @param lost aborts when this process must not write any more
   */
  open(signal: AbortSignal, lost: AbortSignal): AgentState
  close(): void
}

export async function openClusterState(
  options: { kubeconfig: string | undefined; stateNamespace: string | undefined },
  log: Logger,
): Promise<ClusterState> {
  const objects = await openStateObjects({ kubeconfig: options.kubeconfig, namespace: options.stateNamespace })
  return {
    namespace: objects.namespace,
    election: openLeaseElection(objects, log),
    open(signal, lost) {
      const access = { objects, signal, lost }
      return { records: openSecretRecords(access), journals: openSecretLogs(access) }
    },
    close: () => objects.close(),
  }
}

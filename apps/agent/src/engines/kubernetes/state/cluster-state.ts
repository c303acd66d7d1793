import type { Logger } from '@crux/service-kit'
import { EngineError } from '../../../errors.ts'
import type { AgentState } from '../../../state/agent-state.ts'
import type { LeaderElection, Leadership } from '../../../state/leader-election.ts'
import { openStateObjects, type StateObjects } from '../client/state-objects.ts'
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
   * @param leadership without it, this process must not write any more
   */
  open(signal: AbortSignal, leadership: Leadership): AgentState
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
    open(signal, leadership) {
      const access = { objects: onlyWhileHeld(objects, leadership), signal, lost: leadership.lost }
      return { records: openSecretRecords(access), journals: openSecretLogs(access) }
    },
    close: () => objects.close(),
  }
}

/** What it fails with ends no turn that goes on, and is not repeated in one that has ended. */
function onlyWhileHeld(objects: StateObjects, leadership: Leadership): StateObjects {
  const check = () => {
    if (!leadership.isHeld()) throw new EngineError('unavailable', 'Another agent of this node may work')
  }
  return {
    ...objects,
    async create(...given) {
      check()
      return objects.create(...given)
    },
    async change(...given) {
      check()
      return objects.change(...given)
    },
    async delete(...given) {
      check()
      return objects.delete(...given)
    },
  }
}

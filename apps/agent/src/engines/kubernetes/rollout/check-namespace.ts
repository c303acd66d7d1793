import type { Release } from '@crux/agent-protocol'
import { getMessage, PlanError } from '../../../errors.ts'
import { namespacesSetting } from '../cluster/limited-cluster.ts'
import type { DesiredWorkload } from '../plan/desired-workload.ts'
import { refusePodLabels } from '../plan/user-rows.ts'
import type { ClusterNode } from './release-context.ts'

/**
 * Pods of a release may name any Secret of their namespace, so no release reaches the one in which the agent keeps its token and its key.
 *
 * @throws PlanError for a namespace that no release of this agent may use
 */
export function checkNamespace(
  { namespaces, ownNamespace }: Pick<ClusterNode, 'namespaces' | 'ownNamespace'>,
  prefix: string,
): void {
  if (prefix === ownNamespace)
    throw new PlanError('', `the prefix ${prefix} is the namespace of the agent itself: choose another prefix`)
  if (namespaces && !namespaces.includes(prefix))
    throw new PlanError(
      '',
      `the agent is limited to the namespaces ${namespaces.join(', ')} by ${namespacesSetting}: choose one of them as the prefix, or add ${prefix} to the setting`,
    )
}

/** @throws PlanError for a label of a member on pods, where objects of others could select them by it */
export function checkPodLabels(
  desired: readonly Pick<DesiredWorkload, 'config' | 'instanceId' | 'namespace'>[],
  { isForeign }: { isForeign: boolean },
): void {
  if (!isForeign) return
  for (const { config, instanceId, namespace } of desired)
    try {
      refusePodLabels(config, namespace)
    } catch (error) {
      throw new PlanError(instanceId, getMessage(error), { cause: error })
    }
}

/** Namespaces that somebody else made, which deployments may use: those that an admin lists, and all that the agent is limited to. */
export const listForeignNamespaces = (
  { namespaces }: Pick<ClusterNode, 'namespaces'>,
  { cluster }: Release,
): string[] => [...(cluster?.foreignNamespaces ?? []), ...(namespaces ?? [])]

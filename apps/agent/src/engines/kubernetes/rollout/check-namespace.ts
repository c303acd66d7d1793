import type { Release } from '@crux/agent-protocol'
import { PlanError } from '../../../errors.ts'
import { namespacesSetting } from '../cluster/limited-cluster.ts'
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

/** Namespaces that somebody else made, which deployments may use: those that an admin lists, and all that the agent is limited to. */
export const listForeignNamespaces = (
  { namespaces }: Pick<ClusterNode, 'namespaces'>,
  { cluster }: Release,
): string[] => [...(cluster?.foreignNamespaces ?? []), ...(namespaces ?? [])]

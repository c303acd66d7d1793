import type { Owner, Release, ReleaseKey } from '@crux/agent-protocol'
import { type EngineScope, isCovered, ownerLabel } from '@crux/rules'

/**
 * Labels that name the owner of a container: team, project, node and prefix. They are written at creation and compared before the container
 * is touched, so that containers of other owners are never replaced, adopted or removed.
 */
export const label = {
  team: ownerLabel.team,
  project: 'dev.crux.project',
  node: ownerLabel.node,
  prefix: 'dev.crux.prefix',
  instance: 'dev.crux.instance',
  deployment: 'dev.crux.deployment',
  release: 'dev.crux.release',
  name: 'dev.crux.name',
  configHash: 'dev.crux.config-hash',
  /** On a container that only prepares another one: the instance, and the index of the preparation. It never counts as the instance's container. */
  preparationOf: 'dev.crux.preparation-of',
  preparation: 'dev.crux.preparation',
  secretKeys: 'dev.crux.secret.keys',
  /** Addresses of an exposed container, with spaces between them. */
  routes: 'dev.crux.routes',
  /** On a network that a team shares on a node: the key that configurations name it by. */
  teamNetwork: 'dev.crux.team-network',
  /** Ports that the node's gate routes to the container (plan/gated-ports.ts). */
  gate: 'dev.crux.gate',
  /** On the gate's own container: the agent's container that created it. */
  getGate: 'dev.crux.gate-of',
  /** On the container of an agent that an update created: the id of the update. */
  update: 'dev.crux.update',
  /** On the same container: the name by which the update got its image. The container itself names the image by its id. */
  agentImage: 'dev.crux.agent-image',
  serviceCategory: 'dev.crux.service-category',
} as const

/** Whose containers: a deployment target, which is a node and a prefix, within a team's project. */
export type OwnerIds = Pick<Owner, 'teamId' | 'projectId' | 'nodeId' | 'prefix'>

export function ownerLabels(owner: OwnerIds): Record<string, string> {
  return {
    [label.team]: owner.teamId,
    [label.project]: owner.projectId,
    [label.node]: owner.nodeId,
    [label.prefix]: owner.prefix,
  }
}

/** The labels of a container that a release creates: its owner and the release. */
export function releaseLabels({ owner, key }: Pick<Release, 'owner' | 'key'>): Record<string, string> {
  return {
    ...(owner ? ownerLabels(owner) : {}),
    [label.deployment]: key?.deploymentId ?? '',
    [label.release]: String(key?.number ?? 0),
  }
}

/**
 * All four must be present and equal: a container that Crux did not start has no owner that could match. A deleted node of the team may
 * take the place of the node, so that a reinstalled node takes over the containers of its predecessor.
 */
export function isOwnedBy(
  labels: Record<string, string>,
  owner: OwnerIds & { deletedNodeIds?: readonly string[] },
): boolean {
  const { projectId, prefix, deletedNodeIds = [] } = owner
  if (projectId === '' || prefix === '') return false
  return (
    isCovered(labels, { teamId: owner.teamId, nodeId: owner.nodeId, deletedNodeIds }) &&
    labels[label.project] === projectId &&
    labels[label.prefix] === prefix
  )
}

/** Whether labels grant an object of a prefix to the scope, of whatever project. */
export const isOfPrefix = (
  labels: Readonly<Record<string, string>>,
  { prefix, scope }: { prefix: string; scope: EngineScope },
): boolean => isCovered(labels, scope) && prefix !== '' && labels[label.prefix] === prefix

/** The owner of a container, from its labels; undefined for a container without an owner. */
export function getOwner(labels: Record<string, string>): OwnerIds | undefined {
  const owner = {
    teamId: labels[label.team] ?? '',
    projectId: labels[label.project] ?? '',
    nodeId: labels[label.node] ?? '',
    prefix: labels[label.prefix] ?? '',
  }
  return Object.values(owner).every((value) => value !== '') ? owner : undefined
}

/** Whether the release created the container. */
export function isOfRelease(labels: Record<string, string>, key: ReleaseKey | undefined): boolean {
  return (
    key !== undefined && labels[label.deployment] === key.deploymentId && labels[label.release] === String(key.number)
  )
}

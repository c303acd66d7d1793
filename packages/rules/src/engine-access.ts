import { isAllowed, type TeamRole } from '@crux/contract'

/** Labels that the agent writes on every container it creates and that no user and no image can set. */
export const ownerLabel = { team: 'dev.crux.team', node: 'dev.crux.node' } as const

/** The part of an engine that a team may use through one of its nodes. Several agents, also of several teams, can share the engine. */
export interface EngineScope {
  teamId: string
  nodeId: string
  /** Deleted nodes of the team, and never another live node (docs/decisions.md#deleted-nodes). */
  deletedNodeIds: readonly string[]
}

/**
 * Whether the labels of a container grant it to the scope. Both labels must exist: containers that Crux did not start, of another team, of another
 * live node or of the platform itself (agent, gate, Traefik) are not covered (docs/decisions.md#containers-of-others).
 */
export function isCovered(labels: Readonly<Record<string, string>>, scope: EngineScope): boolean {
  const team = labels[ownerLabel.team] ?? ''
  const node = labels[ownerLabel.node] ?? ''
  if (team === '' || node === '' || team !== scope.teamId) return false
  return node === scope.nodeId || scope.deletedNodeIds.includes(node)
}

/** What a member sees of a container or an image of an engine. `outline`: a container's name, image and state; an image's names and size. */
export type Visibility = 'full' | 'outline' | 'hidden'

/**
 * The single rule for all lists of engine objects. A team's own objects are visible to all of its members. Of all other objects, admins and owners
 * see the outline, because these share the machine with the team; users see nothing.
 */
export function visibilityFor(role: TeamRole, object: { owned: boolean }): Visibility {
  if (object.owned) return 'full'
  return isAllowed(role, 'containers.read-foreign') ? 'outline' : 'hidden'
}

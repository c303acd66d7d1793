import { createHash } from 'node:crypto'
import type { Owner, ReleaseKey } from '@crux/agent-protocol'

/** Every name that the agent gives on an engine. All follow from the release alone, so a restarted agent finds its own again. */
export function fullName(prefix: string, name: string): string {
  return `${prefix}-${name}`
}

/** A new container's name while another still holds the final one. The dot keeps it apart from every DNS label. */
export function temporaryName(full: string, key: Pick<ReleaseKey, 'deploymentId' | 'number'>): string {
  return `${full}.next-${releaseHash(key)}`
}

/** The container of a preparation. The dot keeps it apart from every instance's name. */
export function preparationName(full: string, what: string): string {
  return `${full}.${what}`
}

/** A replaced container's name between the swap and its removal. */
export function replacedName(full: string, key: Pick<ReleaseKey, 'deploymentId' | 'number'>): string {
  return `${full}.old-${releaseHash(key)}`
}

/** What the name of a container says about the release that it belongs to, for people; undefined outside of a release. */
export function partInRelease(name: string): string | undefined {
  if (/\.next-[0-9a-f]{8}$/.test(name)) return 'takes over when its release is verified'
  if (/\.old-[0-9a-f]{8}$/.test(name)) return 'replaced, and removed when its connections have ended'
  return undefined
}

/** The prefix's own bridge network. Two projects that use the same prefix do not meet there. */
export function networkName(owner: Pick<Owner, 'teamId' | 'projectId' | 'nodeId' | 'prefix'>): string {
  return `crux-${shortHash([owner.teamId, owner.projectId, owner.nodeId])}-${owner.prefix}`
}

/**
 * The network that everything of a team on a node shares under a key. The word in the middle is no hash, so that no key makes it
 * equal to the network of a prefix.
 */
export function teamNetworkName(owner: Pick<Owner, 'teamId' | 'nodeId'>, key: string): string {
  return `crux-team-${shortHash([owner.teamId, owner.nodeId])}-${key}`
}

/** Whether a network is called like those that an agent makes. */
export function isCruxNetworkName(name: string): boolean {
  return /^crux-(team-)?[0-9a-f]{8}-/.test(name)
}

/**
 * The network on which verified containers get their names while the ones that they replace still hold them on the first.
 * It sorts behind the first one and is internal, so that it never becomes a container's default route.
 */
export function handoverNetworkName(owner: Pick<Owner, 'teamId' | 'projectId' | 'nodeId' | 'prefix'>): string {
  return `${networkName(owner)}.handover`
}

function releaseHash(key: Pick<ReleaseKey, 'deploymentId' | 'number'>): string {
  return shortHash([key.deploymentId, String(key.number)])
}

function shortHash(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 8)
}

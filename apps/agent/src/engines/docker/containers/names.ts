import { createHash } from 'node:crypto'
import type { Owner, ReleaseKey } from '@crux/agent-protocol'

/** Names that the agent uses on Docker. All follow from the release alone, so a restarted agent finds its own objects again. */

/** A new container's name while another still has the final one. The dot separates it from every DNS label. */
export function temporaryName(full: string, key: Pick<ReleaseKey, 'deploymentId' | 'number'>): string {
  return `${full}.next-${releaseHash(key)}`
}

/** The container of a preparation. The dot separates it from every instance's name. */
export function preparationName(full: string, what: string): string {
  return `${full}.${what}`
}

/** A replaced container's name between the handover and its removal. */
export function replacedName(full: string, key: Pick<ReleaseKey, 'deploymentId' | 'number'>): string {
  return `${full}.old-${releaseHash(key)}`
}

/** The role in a release that a container's name shows, for users; undefined outside of a release. */
export function partInRelease(name: string): string | undefined {
  if (/\.next-[0-9a-f]{8}$/.test(name)) return 'takes over when its release is verified'
  if (/\.old-[0-9a-f]{8}$/.test(name)) return 'replaced, and removed when its connections have ended'
  return undefined
}

/** The prefix's own bridge network. Two projects that use the same prefix do not share it. */
export function networkName(owner: Pick<Owner, 'teamId' | 'projectId' | 'nodeId' | 'prefix'>): string {
  return `crux-${shortHash([owner.teamId, owner.projectId, owner.nodeId])}-${owner.prefix}`
}

/**
 * The network that all containers of a team on a node share under a key. The part in the middle is no hash, so that no key makes it equal
 * to the network of a prefix.
 */
export function teamNetworkName(owner: Pick<Owner, 'teamId' | 'nodeId'>, key: string): string {
  return `crux-team-${shortHash([owner.teamId, owner.nodeId])}-${key}`
}

/** Whether a network has a name of the form that agents use. */
export function isCruxNetworkName(name: string): boolean {
  return /^crux-(team-)?[0-9a-f]{8}-/.test(name)
}

/**
 * The network on which verified containers get their names while the ones that they replace still have them on the first network. It sorts
 * after the first one and is internal, so that it never becomes a container's default route.
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

import type { ContainerConfigFields } from '@crux/contract'
import { isClaim } from './kubernetes-unavailable.ts'

/** The claim of a volume. It holds data, so that its name must never change. */
export const toClaimName = (containerName: string, volumeName: string): string => `${containerName}-${volumeName}`

type Claimant = Pick<ContainerConfigFields, 'volumes'> & { name: string }

/** The claim that two containers would share, as a text for users. */
export const sharedClaimDescription = (
  claim: string,
  [first, second]: readonly [containerName: string, containerName: string],
): string => {
  const volumeName = (containerName: string) => claim.slice(containerName.length + 1)
  return `The volume ${volumeName(first)} of ${first} and the volume ${volumeName(second)} of ${second} would both be the claim ${claim}, and two containers would write to it: rename one of the volumes or containers`
}

/**
 * Volumes of different containers that would be one claim: the names of both are joined with a dash, which each of them may have.
 *
 * @returns the place of the later volume of each pair
 */
export function findSharedClaims(
  containers: readonly Claimant[],
): { index: number; volumeIndex: number; description: string }[] {
  const owners = new Map<string, string>()
  return containers.flatMap(({ name, volumes }, index) =>
    (volumes ?? []).flatMap((volume, volumeIndex) => {
      if (!isClaim(volume)) return []
      const claim = toClaimName(name, volume.name)
      const other = owners.get(claim) ?? name
      owners.set(claim, other)
      return other === name ? [] : [{ index, volumeIndex, description: sharedClaimDescription(claim, [other, name]) }]
    }),
  )
}

import type { CurrentContainer } from './deployment-pause.ts'
import { findExclusiveClaim } from './kubernetes-unavailable.ts'

/**
 * The reason why the previous pods of a container stop before the new ones start, as a text for the page; undefined when they answer until
 * then.
 *
 * @param standing all containers that currently run under the prefix; the one that `next` replaces has its name
 */
export function kubernetesPauseReason(
  { config, name }: Pick<CurrentContainer, 'config' | 'name'>,
  standing: readonly CurrentContainer[],
): string | undefined {
  // A job of a new release runs beside what is left of the previous one.
  if (!standing.some((one) => one.name === name) || config.expectedState?.state === 'exited') return undefined
  const exclusive = findExclusiveClaim(config)
  if (exclusive)
    return exclusive.isFilled
      ? `Files are copied into the volume ${exclusive.volume.name} before the new pods start`
      : `Only one pod at a time may write to the volume ${exclusive.volume.name}`
  if (config.deploymentStrategy === 'recreate')
    return 'Its strategy is Recreate: the previous pods stop before the new ones start'
  return undefined
}

import type { CurrentContainer } from './deployment-pause.ts'
import { findExclusiveClaim } from './kubernetes-unavailable.ts'

/**
 * The reason why the previous pods of a container stop before the new ones start, as a text for the page; undefined when they answer until
 * then.
 *
 * @param current all containers that currently run under the prefix; the one that `next` replaces has its name
 */
export function kubernetesPauseReason(
  { config, name }: Pick<CurrentContainer, 'config' | 'name'>,
  current: readonly CurrentContainer[],
): string | undefined {
  const previous = current.find((one) => one.name === name)
  // The job of a previous release has ended.
  if (!previous || isJob(previous.config)) return undefined
  const exclusive = findExclusiveClaim(config)
  if (exclusive)
    return exclusive.isFilled
      ? `Files are copied into the volume ${exclusive.volume.name} before the new pods start`
      : `Only one pod at a time may write to the volume ${exclusive.volume.name}`
  // Beside a job that writes to no volume of its own, the previous pods answer until it has ended.
  if (config.deploymentStrategy === 'recreate' && !isJob(config))
    return 'Its strategy is Recreate: the previous pods stop before the new ones start'
  return undefined
}

const isJob = ({ expectedState }: CurrentContainer['config']): boolean => expectedState?.state === 'exited'

import type { Release } from '@crux/agent-protocol'
import { isCovered } from '@crux/rules'
import { PlanError } from '../../../errors.ts'
import { isOwnedBy, label } from '../../labels.ts'
import type { ContainerSummary, ObservedContainer } from '../containers/container-engine.ts'
import { claimedPorts } from '../containers/gated-ports.ts'
import { sharedPort } from './conflicts.ts'
import type { Observation, ResolvedInstance } from './steps.ts'

/** The error for a name that another owner has names it and says what to do. */
export function refuseForeignNames(
  desired: readonly ResolvedInstance[],
  observed: Observation,
  release: Release,
): void {
  const owner = release.owner
  for (const instance of desired) {
    const twin = desired.find((other) => other !== instance && other.full === instance.full)
    if (twin)
      throw new PlanError(
        instance.instanceId,
        `two images of the release have the container name ${instance.full}: give one another name`,
      )
    const holder = observed.all.find(({ name }) => name === instance.full)
    if (holder && (!owner || !isOwnedBy(holder.labels, owner))) {
      throw new PlanError(
        instance.instanceId,
        `the container ${instance.full} exists already and is not this project's: choose another prefix or name, or remove it`,
      )
    }
  }
}

/** The error for a port that stays taken names its holder before anything is stopped. */
export function refusePortClashes(
  changing: readonly ResolvedInstance[],
  observed: Observation,
  leaving: readonly ObservedContainer[],
  release: Pick<Release, 'owner'>,
): void {
  for (const instance of changing) {
    const wanted = claimedPorts(instance.base)
    const rival = changing.find((other) => other !== instance && sharedPort(wanted, claimedPorts(other.base)))
    if (rival) {
      const port = sharedPort(wanted, claimedPorts(rival.base))
      throw new PlanError(
        instance.instanceId,
        `port ${port?.hostPort} is wanted by ${rival.full} of the same release too: choose another port`,
      )
    }
    for (const other of observed.all) {
      if (!other.running || leaving.some(({ id }) => id === other.id) || isOwnNew(other, instance)) continue
      const port = sharedPort(wanted, claimedPorts(other))
      if (port) throw new PlanError(instance.instanceId, portTaken(port.hostPort, holderName(other, release.owner)))
    }
  }
}

export function portTaken(port: number, holder: string): string {
  return `port ${port} is taken by ${holder}: choose another port or stop it`
}

/** The whole team can read the outcome of a deployment, so it contains no names of containers of other owners. */
export function holderName(
  { name, labels }: Pick<ContainerSummary, 'name' | 'labels'>,
  owner: Release['owner'],
): string {
  return owner && isCovered(labels, owner) ? name : "a container that is not this team's"
}

function isOwnNew(other: ContainerSummary, instance: ResolvedInstance): boolean {
  return (
    other.labels[label.instance] === instance.instanceId &&
    other.labels[label.deployment] === instance.base.labels[label.deployment] &&
    other.labels[label.release] === instance.base.labels[label.release]
  )
}

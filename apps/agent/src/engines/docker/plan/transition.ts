import { createHash } from 'node:crypto'
import type { Release } from '@crux/agent-protocol'
import type { FinalContainerConfig } from '@crux/contract'
import { canonicalJson } from '@crux/rules'
import { isOfRelease, label } from '../../labels.ts'
import type { ObservedContainer } from '../containers/container-engine.ts'
import { contestedPort, type NextContainer, reasonsToPause } from './conflicts.ts'
import type { DesiredInstance } from './container-spec.ts'
import type { Mode, Observation, ResolvedInstance } from './steps.ts'

/** What a release does with the containers that exist. */
export interface Transition {
  /** By instance: the container that it replaces. */
  previous: ReadonlyMap<string, ObservedContainer | undefined>
  changing: readonly ResolvedInstance[]
  staying: readonly ResolvedInstance[]
  /** Containers of the previous release that no instance replaces. */
  orphans: readonly ObservedContainer[]
  /** All containers that the release removes. */
  leaving: readonly ObservedContainer[]
}

export function toTransition(
  release: Release,
  desired: readonly ResolvedInstance[],
  observed: Observation,
  network: string,
): Transition {
  const previous = findPreviousContainers(desired, observed, release)
  const takenOver = new Set([...previous.values()].flatMap((container) => container?.id ?? []))
  const orphans = release.partial ? [] : findOrphans(release, observed, takenOver)
  const stays = (instance: ResolvedInstance) =>
    !release.recreate && isUnchanged(instance, previous.get(instance.instanceId), network)
  const { changing = [], staying = [] } = Object.groupBy(desired, (one) => (stays(one) ? 'staying' : 'changing'))
  const leaving = [...changing.flatMap(({ instanceId }) => previous.get(instanceId) ?? []), ...orphans]
  return { previous, changing, staying, orphans, leaving }
}

/** The containers that must stop before a new one starts, and why. */
export interface Stops {
  /** By engine id. */
  stopped: ReadonlyMap<string, StoppedContainer>
  /** By instance: why it has downtime. */
  reasons: ReadonlyMap<string, readonly string[]>
}

export interface StoppedContainer {
  instanceId: string
  previous: ObservedContainer
}

export function listStops({ changing, leaving, previous }: Transition): Stops {
  const stopped = new Map<string, StoppedContainer>()
  const reasons = new Map<string, string[]>()
  for (const instance of changing) {
    const { instanceId } = instance
    const own = previous.get(instanceId)
    const found = own && isRunning(own) ? reasonsToPause(toNextContainer(instance), own) : []
    reasons.set(instanceId, found)
    if (own && found.length > 0) stopped.set(own.id, { instanceId, previous: own })
    for (const other of leaving) {
      if (other.id === own?.id || !isRunning(other)) continue
      const port = contestedPort(instance.base, other)
      if (!port) continue
      const holder = changing.find((candidate) => previous.get(candidate.instanceId)?.id === other.id)
      stopped.set(other.id, { instanceId: holder?.instanceId ?? instanceId, previous: other })
      if (holder)
        reasons.set(holder.instanceId, [
          ...(reasons.get(holder.instanceId) ?? []),
          `${instance.full} takes its port ${port.hostPort}`,
        ])
    }
  }
  return { stopped, reasons }
}

/** How an instance that changes gets from its previous container to the new one. */
export function getMode(previous: ObservedContainer | undefined, { stopped }: Stops): Mode {
  if (!previous) return 'first'
  return isRunning(previous) && !stopped.has(previous.id) ? 'beside' : 'after'
}

/**
 * Returns the container that each instance replaces: the one with its name, or else the one that a previous release created for the same
 * instance under another name, unless another instance has that name now. Only containers of the owner count, and none of this very
 * release.
 */
function findPreviousContainers(
  desired: readonly DesiredInstance[],
  observed: Observation,
  release: Release,
): Map<string, ObservedContainer | undefined> {
  const candidates = observed.owned.filter(({ labels }) => !isOfRelease(labels, release.key))
  const named = (wanted: string | undefined) => candidates.find(({ name }) => name === wanted)
  const names = new Set(desired.map(({ full }) => full))
  return new Map(
    desired.map(({ instanceId, full }) => {
      const record = release.previous.find((previous) => previous.instanceId === instanceId)
      const renamed = record && !names.has(record.containerName) ? named(record.containerName) : undefined
      return [instanceId, named(full) ?? renamed]
    }),
  )
}

function findOrphans(release: Release, observed: Observation, takenOver: ReadonlySet<string>): ObservedContainer[] {
  const names = new Set(release.previous.map(({ containerName }) => containerName))
  return observed.owned.filter(
    ({ id, name, labels }) => names.has(name) && !takenOver.has(id) && !isOfRelease(labels, release.key),
  )
}

function isUnchanged(instance: ResolvedInstance, previous: ObservedContainer | undefined, network: string): boolean {
  if (!previous || previous.name !== instance.full || previous.imageId !== instance.metadata.id) return false
  if (previous.labels[label.configHash] !== toHash(instance)) return false
  if (instance.base.networkMode === network && !previous.networks.some(({ name }) => name === network)) return false
  // A container that a user of the engine has disconnected from one of its networks is replaced.
  if (!instance.networks.every(({ name }) => previous.networks.some((joined) => joined.name === name))) return false
  const expected = instance.config.expectedState?.state ?? 'running'
  if (expected === 'exited')
    return previous.state === 'exited' && previous.exitCode === (instance.config.expectedState?.exitCode ?? 0)
  if (expected === 'waiting')
    return previous.state === 'restarting' || previous.state === 'created' || previous.state === 'paused'
  return previous.state === 'running' && previous.health !== 'unhealthy'
}

/** Covers the images of preparations too: their files are part of the instance. */
export function toHash({ digest, config, preparationImages }: ResolvedInstance): string {
  const others = [...preparationImages].map(([name, image]) => `${name}@${image.digest}`).sort()
  return configHash([digest, ...others].join('\n'), config)
}

function toNextContainer(instance: ResolvedInstance): NextContainer {
  return { spec: instance.base, imageVolumes: instance.metadata.volumes, written: instance.written }
}

export function isRunning({ state }: ObservedContainer): boolean {
  return state === 'running' || state === 'restarting' || state === 'paused'
}

/** Equal for instances with the same image and final configuration; row ids and the order of keys do not count. */
export function configHash(digest: string, config: FinalContainerConfig): string {
  return createHash('sha256')
    .update(`${digest}\n${canonicalJson(config)}`)
    .digest('hex')
}

import type { Release } from '@crux/agent-protocol'
import { PlanError } from '../../../errors/plan-error.ts'
import { label } from '../../labels.ts'
import type { ObservedContainer } from '../containers/container-engine.ts'
import { handoverNetworkName, networkName, temporaryName } from '../containers/names.ts'
import { refuseForeignNames, refusePortClashes } from './clashes.ts'
import { configHash } from './config-hash.ts'
import { contestedPort, type NextContainer, reasonsToPause } from './conflicts.ts'
import type { DesiredInstance } from './container-spec.ts'
import { mayHaveConnections } from './drain.ts'
import { type GateSteps, gateSteps } from './gate-steps.ts'
import { handoverSteps } from './handover.ts'
import type { Observation, ResolvedInstance } from './observation.ts'
import { refuseRouteClashes } from './routes.ts'
import type { Mode, Plan, PlannedInstance, PreviousContainer, Step } from './steps.ts'

/**
 * Returns the steps from the running containers to the desired ones. Pure.
 *
 * @throws PlanError when that is impossible without changing objects of other owners
 */
export function planRelease(release: Release, desired: readonly ResolvedInstance[], observed: Observation): Plan {
  const { owner, key } = release
  if (!owner || !key) throw new PlanError('', 'the release names no owner')
  const network = networkName(owner)
  const handoverNetwork = handoverNetworkName(owner)
  refuseForeignNames(desired, observed, release)

  const previousContainers = previousContainersOf(desired, observed, release)
  const takenOver = new Set([...previousContainers.values()].flatMap((previous) => (previous ? [previous.id] : [])))
  const orphans = release.partial ? [] : orphansOf(release, observed, takenOver)

  const kept = new Set(
    desired
      .filter(
        (instance) => !release.recreate && isUnchanged(instance, previousContainers.get(instance.instanceId), network),
      )
      .map(({ instanceId }) => instanceId),
  )
  const changing = desired.filter(({ instanceId }) => !kept.has(instanceId))
  const leaving = [...changing.flatMap(({ instanceId }) => previousContainers.get(instanceId) ?? []), ...orphans]
  refusePortClashes(changing, observed, leaving, release)
  const staying = desired.filter(({ instanceId }) => kept.has(instanceId))
  refuseRouteClashes({ changing, staying }, observed.all, new Set(leaving.map(({ id }) => id)), release)

  const mustStop = new Map<string, { instanceId: string; previous: ObservedContainer }>()
  const reasons = new Map<string, string[]>()
  for (const instance of changing) {
    const own = previousContainers.get(instance.instanceId)
    const found = own && isRunning(own) ? reasonsToPause(nextOf(instance), own) : []
    reasons.set(instance.instanceId, found)
    if (own && found.length > 0) mustStop.set(own.id, { instanceId: instance.instanceId, previous: own })
    for (const other of leaving) {
      if (other.id === own?.id || !isRunning(other)) continue
      const port = contestedPort(instance.base, other)
      if (!port) continue
      const holder = changing.find(({ instanceId }) => previousContainers.get(instanceId)?.id === other.id)
      mustStop.set(other.id, { instanceId: holder?.instanceId ?? instance.instanceId, previous: other })
      if (holder)
        reasons.set(holder.instanceId, [
          ...(reasons.get(holder.instanceId) ?? []),
          `${instance.full} takes its port ${port.hostPort}`,
        ])
    }
  }

  const handoverNetworkExists = observed.owned.some(({ networks }) =>
    networks.some(({ name }) => name === handoverNetwork),
  )
  const links = linksOf(desired, observed, network)
  const instances = desired.map((instance): PlannedInstance => {
    const previous = previousContainers.get(instance.instanceId)
    const mode = kept.has(instance.instanceId) ? 'keep' : modeOf(previous, mustStop)
    const onNetwork = instance.base.networkMode === network
    const nameIsFree = mode === 'first' || previous?.name !== instance.full
    const alreadyMine = observed.owned.some(
      ({ name, labels }) => name === temporaryName(instance.full, key) && isOfRelease(labels, release),
    )
    const short = instance.config.name
    return {
      instanceId: instance.instanceId,
      full: instance.full,
      mode,
      createName: nameIsFree && !alreadyMine ? instance.full : temporaryName(instance.full, key),
      // The container's own name is the long one; an alias would remain after the handover, so it is given only where the name comes late.
      aliases: !onNetwork || mode === 'beside' ? [] : nameIsFree ? [short] : [short, instance.full],
      links: onNetwork ? links : [],
      networks: [
        ...(onNetwork && handoverNetworkExists && mode !== 'beside' ? [{ name: handoverNetwork, aliases: [] }] : []),
        ...instance.networks.map(({ name }) => ({ name, aliases: mode === 'beside' ? [] : [short, instance.full] })),
      ],
      ...(previous && mode !== 'keep' ? { previous: recordOf(previous) } : {}),
      reasons: reasons.get(instance.instanceId) ?? [],
      holdsBack: instance.config.expectedState != null || hasHealthProbe(instance),
    }
  })
  const stops = [...mustStop.values()]
  const gate = gateSteps({
    changing: changing.map((instance) => ({
      instance,
      mode: instances.find(({ instanceId }) => instanceId === instance.instanceId)?.mode ?? 'first',
      previous: previousContainers.get(instance.instanceId),
    })),
    orphans,
    stopped: new Set(mustStop.keys()),
  })
  const records = orphans.map(recordOf)
  return assemble({ release, desired, observed, instances, orphans: records, stops, gate, network, handoverNetwork })
}

interface Parts {
  release: Release
  desired: readonly ResolvedInstance[]
  observed: Observation
  instances: readonly PlannedInstance[]
  orphans: readonly PreviousContainer[]
  stops: readonly { instanceId: string; previous: ObservedContainer }[]
  gate: GateSteps
  network: string
  handoverNetwork: string
}

function assemble({
  release,
  desired,
  observed,
  instances,
  orphans,
  stops,
  gate,
  network,
  handoverNetwork,
}: Parts): Plan {
  const changing = instances.filter(({ mode }) => mode !== 'keep')
  const byId = new Map(desired.map((instance) => [instance.instanceId, instance]))
  const onNetwork = ({ instanceId }: PlannedInstance) => byId.get(instanceId)?.base.networkMode === network
  const named = changing.flatMap(({ instanceId }) => byId.get(instanceId)?.networks ?? [])
  const networks = [...new Map(named.map((one) => [one.name, one])).values()]
  const key = release.key ?? { deploymentId: '', number: 0 }

  const prepare: Step[] = [
    ...(changing.some(onNetwork) ? [{ kind: 'network.ensure' as const, network, internal: false }] : []),
    ...networks.map(
      ({ kind, key: networkKey, name }): Step =>
        kind === 'team'
          ? { kind: 'team-network.ensure', network: name, key: networkKey }
          : { kind: 'engine-network.verify', network: name },
    ),
    ...gate.prepare,
  ]
  const start = changing.map((planned) => ({
    instanceId: planned.instanceId,
    steps: [
      ...stopsBefore(planned, byId, stops).flatMap(({ previous, instanceId }) => [
        ...(gate.beforeStop.get(previous.id) ?? []),
        {
          kind: 'previous.stop' as const,
          id: previous.id,
          name: previous.name,
          instanceId,
          restartPolicy: previous.restartPolicy,
        },
      ]),
      ...(gate.beforeStart.get(planned.instanceId) ?? []),
      ...(byId.get(planned.instanceId)?.preparations ?? []).map((_, index) => ({
        kind: 'instance.prepare' as const,
        instanceId: planned.instanceId,
        index,
      })),
      { kind: 'container.start' as const, instanceId: planned.instanceId },
    ],
    verified: gate.verified.get(planned.instanceId) ?? [],
  }))

  const swap = [
    ...handoverSteps({ changing, onNetwork, byId, observed, orphans, network, handoverNetwork, key }),
    ...gate.swap,
  ]

  const leaving = [
    ...changing.flatMap(({ previous, instanceId }) => (previous ? [{ ...previous, instanceId }] : [])),
    ...orphans.map((orphan) => ({ ...orphan, instanceId: '' })),
  ]
  const inUse = observed.owned.some(
    (container) =>
      leaving.some(({ id, wasRunning }) => wasRunning && id === container.id) &&
      !stops.some(({ previous }) => previous.id === container.id) &&
      mayHaveConnections(container, observed.owned, {
        joining: changing.length,
        networks: new Set([network, handoverNetwork]),
      }),
  )
  const cleanUp: Step[] = [
    ...gate.cleanUp,
    ...(inUse && release.drainMs > 0 ? [{ kind: 'drain' as const, ms: release.drainMs }] : []),
    ...leaving.map(({ id, name, instanceId }) => ({ kind: 'previous.remove' as const, id, name, instanceId })),
  ]
  return {
    network,
    handoverNetwork,
    instances,
    prepare,
    create: changing.map(({ instanceId }) => ({ kind: 'container.create', instanceId })),
    start,
    finalize: changing.map(({ instanceId }) => ({ kind: 'container.finalize', instanceId })),
    swap,
    cleanUp,
    undo: undoOf(changing, leaving, byId, gate.undo),
  }
}

/** New containers are removed first: what they held must be free before the previous ones return. */
function undoOf(
  changing: readonly PlannedInstance[],
  leaving: readonly (PreviousContainer & { instanceId: string })[],
  byId: ReadonlyMap<string, ResolvedInstance>,
  gate: GateSteps['undo'],
): Step[][] {
  const prepared = changing.filter(({ instanceId }) => (byId.get(instanceId)?.preparations.length ?? 0) > 0)
  const unless = (steps: Step[]) => (steps.length > 0 ? [steps] : [])
  return [
    ...unless(gate.first),
    [
      ...changing.map(({ instanceId }) => ({ kind: 'new.discard' as const, instanceId })),
      ...prepared.map(({ instanceId }) => ({ kind: 'preparation.discard' as const, instanceId })),
    ],
    leaving.map(({ id, name }) => ({
      kind: 'container.rename',
      target: { kind: 'previous', id, name },
      from: '',
      to: name,
    })),
    ...unless(gate.beforeRestore),
    leaving
      .filter(({ wasRunning }) => wasRunning)
      .map(({ id, name, instanceId, restartPolicy }) => ({
        kind: 'previous.restore',
        id,
        name,
        instanceId,
        restartPolicy,
      })),
    ...unless(gate.last),
  ]
}

/** Containers to stop right before an instance starts: its own previous one, and others that hold what it needs. */
function stopsBefore(
  planned: PlannedInstance,
  byId: Map<string, ResolvedInstance>,
  stops: Parts['stops'],
): Parts['stops'] {
  const base = byId.get(planned.instanceId)?.base
  return stops.filter(
    ({ previous }) => previous.id === planned.previous?.id || (base && contestedPort(base, previous) !== undefined),
  )
}

function modeOf(previous: ObservedContainer | undefined, mustStop: ReadonlyMap<string, unknown>): Mode {
  if (!previous) return 'first'
  return isRunning(previous) && !mustStop.has(previous.id) ? 'beside' : 'after'
}

/**
 * Returns the container that each instance replaces: the one with its name, or else the one that a previous release created for the same
 * instance under another name, unless another instance has that name now. Only containers of the owner count, and none of this very
 * release.
 */
function previousContainersOf(
  desired: readonly DesiredInstance[],
  observed: Observation,
  release: Release,
): Map<string, ObservedContainer | undefined> {
  const candidates = observed.owned.filter(({ labels }) => !isOfRelease(labels, release))
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

function orphansOf(release: Release, observed: Observation, takenOver: ReadonlySet<string>): ObservedContainer[] {
  const names = new Set(release.previous.map(({ containerName }) => containerName))
  return observed.owned.filter(
    ({ id, name, labels }) => names.has(name) && !takenOver.has(id) && !isOfRelease(labels, release),
  )
}

function isOfRelease(labels: Record<string, string>, release: Release): boolean {
  return labels[label.deployment] === release.key?.deploymentId && labels[label.release] === String(release.key?.number)
}

function isUnchanged(instance: ResolvedInstance, previous: ObservedContainer | undefined, network: string): boolean {
  if (!previous || previous.name !== instance.full || previous.imageId !== instance.metadata.id) return false
  if (previous.labels[label.configHash] !== hashOf(instance)) return false
  if (instance.base.networkMode === network && !previous.networks.some(({ name }) => name === network)) return false
  // Earlier agents gave networks other names: a container on one of those networks moves.
  if (!instance.networks.every(({ name }) => previous.networks.some((joined) => joined.name === name))) return false
  const expected = instance.config.expectedState?.state ?? 'running'
  if (expected === 'exited')
    return previous.state === 'exited' && previous.exitCode === (instance.config.expectedState?.exitCode ?? 0)
  if (expected === 'waiting')
    return previous.state === 'restarting' || previous.state === 'created' || previous.state === 'paused'
  return previous.state === 'running' && previous.health !== 'unhealthy'
}

/** Covers the images of preparations too: their files are part of the instance. */
export function hashOf({ digest, config, preparationImages }: ResolvedInstance): string {
  const others = [...preparationImages].map(([name, image]) => `${name}@${image.digest}`).sort()
  return configHash([digest, ...others].join('\n'), config)
}

/**
 * Names of the neighbours as this container alone resolves them: each resolves to the container that has the long name at the moment, so a
 * handover by rename moves every lookup at once and does not affect open connections.
 */
function linksOf(desired: readonly ResolvedInstance[], observed: Observation, network: string): string[] {
  const names = new Map<string, string>()
  for (const { labels, name, networks } of observed.owned) {
    const short = labels[label.name]
    const prefix = labels[label.prefix]
    if (short && name === `${prefix}-${short}` && networks.some((joined) => joined.name === network))
      names.set(short, name)
  }
  for (const { config, full, base } of desired) if (base.networkMode === network) names.set(config.name, full)
  return [...names].map(([short, full]) => `${full}:${short}`)
}

export function hasHealthProbe(instance: Pick<DesiredInstance, 'config'>): boolean {
  const probes = instance.config.healthCheckConfig
  return Boolean(probes?.readinessProbe || probes?.startupProbe || probes?.livenessProbe || probes?.command)
}

function nextOf(instance: ResolvedInstance): NextContainer {
  return { spec: instance.base, imageVolumes: instance.metadata.volumes, written: instance.written }
}

function isRunning({ state }: ObservedContainer): boolean {
  return state === 'running' || state === 'restarting' || state === 'paused'
}

function recordOf({ id, name, state, restartPolicy }: ObservedContainer): PreviousContainer {
  return { id, name, wasRunning: state === 'running' || state === 'restarting' || state === 'paused', restartPolicy }
}

import type { Release } from '@crux/agent-protocol'
import { hasHealthTest } from '@crux/rules'
import { PlanError } from '../../../errors.ts'
import { isOfRelease, label } from '../../labels.ts'
import type { ObservedContainer } from '../containers/container-engine.ts'
import { handoverNetworkName, networkName, temporaryName } from '../containers/names.ts'
import { refuseForeignNames, refusePortClashes } from './clashes.ts'
import { contestedPort } from './conflicts.ts'
import type { DesiredInstance } from './container-spec.ts'
import { mayHaveConnections } from './drain.ts'
import { type GateSteps, gateSteps } from './gate-steps.ts'
import { handoverSteps } from './handover.ts'
import { refuseRouteClashes } from './routes.ts'
import type { Observation, Plan, PlannedInstance, PreviousContainer, ResolvedInstance, Step } from './steps.ts'
import {
  getMode,
  isRunning,
  listStops,
  type StoppedContainer,
  type Stops,
  type Transition,
  toTransition,
} from './transition.ts'

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
  const transition = toTransition(release, desired, observed, network)
  const { changing, leaving, orphans, previous, staying } = transition
  refusePortClashes(changing, observed, leaving, release)
  refuseRouteClashes({ changing, staying }, observed.all, new Set(leaving.map(({ id }) => id)), release)
  const stops = listStops(transition)
  const context: PlanContext = { release, key, desired, observed, transition, stops, network, handoverNetwork }
  const instances = plannedInstances(context)
  const gate = gateSteps({
    changing: changing.map((instance) => {
      const own = previous.get(instance.instanceId)
      return { instance, mode: getMode(own, stops), previous: own }
    }),
    orphans,
    stopped: new Set(stops.stopped.keys()),
  })
  return assemble(context, instances, gate)
}

interface PlanContext {
  release: Release
  key: NonNullable<Release['key']>
  desired: readonly ResolvedInstance[]
  observed: Observation
  transition: Transition
  stops: Stops
  network: string
  handoverNetwork: string
}

function plannedInstances(context: PlanContext): PlannedInstance[] {
  const { desired, handoverNetwork, key, network, observed, stops, transition } = context
  const handoverNetworkExists = observed.owned.some(({ networks }) =>
    networks.some(({ name }) => name === handoverNetwork),
  )
  const links = getLinks(desired, observed, network)
  return desired.map((instance): PlannedInstance => {
    const { instanceId, full } = instance
    const previous = transition.previous.get(instanceId)
    const mode = transition.staying.includes(instance) ? 'keep' : getMode(previous, stops)
    const onNetwork = instance.base.networkMode === network
    const nameIsFree = mode === 'first' || previous?.name !== full
    const alreadyMine = observed.owned.some(
      ({ name, labels }) => name === temporaryName(full, key) && isOfRelease(labels, key),
    )
    const short = instance.config.name
    return {
      instanceId,
      full,
      mode,
      createName: nameIsFree && !alreadyMine ? full : temporaryName(full, key),
      // The container's own name is the long one; an alias would remain after the handover, so it is given only where the name comes late.
      aliases: !onNetwork || mode === 'beside' ? [] : nameIsFree ? [short] : [short, full],
      links: onNetwork ? links : [],
      networks: [
        ...(onNetwork && handoverNetworkExists && mode !== 'beside' ? [{ name: handoverNetwork, aliases: [] }] : []),
        ...instance.networks.map(({ name }) => ({ name, aliases: mode === 'beside' ? [] : [short, full] })),
      ],
      ...(previous && mode !== 'keep' ? { previous: toRecord(previous) } : {}),
      reasons: stops.reasons.get(instanceId) ?? [],
      holdsBack: instance.config.expectedState != null || hasHealthProbe(instance),
    }
  })
}

type Leaving = PreviousContainer & { instanceId: string }

function assemble(context: PlanContext, instances: readonly PlannedInstance[], gate: GateSteps): Plan {
  const { desired, handoverNetwork, key, network, observed, transition } = context
  const changing = instances.filter(({ mode }) => mode !== 'keep')
  const byId = new Map(desired.map((instance) => [instance.instanceId, instance]))
  const onNetwork = ({ instanceId }: PlannedInstance) => byId.get(instanceId)?.base.networkMode === network
  const orphans = transition.orphans.map(toRecord)
  const leaving: Leaving[] = [
    ...changing.flatMap(({ previous, instanceId }) => (previous ? [{ ...previous, instanceId }] : [])),
    ...orphans.map((orphan) => ({ ...orphan, instanceId: '' })),
  ]
  return {
    network,
    handoverNetwork,
    instances,
    prepare: [...networkSteps(context, changing.some(onNetwork)), ...gate.prepare],
    create: changing.map(({ instanceId }) => ({ kind: 'container.create', instanceId })),
    start: changing.map((planned) => ({
      instanceId: planned.instanceId,
      steps: startSteps(planned, byId.get(planned.instanceId), context.stops, gate),
      verified: gate.verified.get(planned.instanceId) ?? [],
    })),
    finalize: changing.map(({ instanceId }) => ({ kind: 'container.finalize', instanceId })),
    handover: [
      ...handoverSteps({ changing, onNetwork, byId, observed, orphans, network, handoverNetwork, key }),
      ...gate.handover,
    ],
    cleanUp: [...gate.cleanUp, ...cleanUpSteps(context, leaving)],
    undo: toUndo(changing, leaving, byId, gate.undo),
  }
}

function networkSteps({ network, transition }: PlanContext, needsOwn: boolean): Step[] {
  const named = transition.changing.flatMap(({ networks }) => networks)
  return [
    ...(needsOwn ? [{ kind: 'network.ensure' as const, network, internal: false }] : []),
    ...[...new Map(named.map((one) => [one.name, one])).values()].map(
      ({ kind, key, name }): Step =>
        kind === 'team'
          ? { kind: 'team-network.ensure', network: name, key }
          : { kind: 'engine-network.verify', network: name },
    ),
  ]
}

function startSteps(
  planned: PlannedInstance,
  instance: ResolvedInstance | undefined,
  stops: Stops,
  gate: GateSteps,
): Step[] {
  const { instanceId } = planned
  return [
    ...stopsBefore(planned, instance, stops).flatMap(
      ({ previous: { id, name, restartPolicy }, instanceId: of }): Step[] => [
        ...(gate.beforeStop.get(id) ?? []),
        { kind: 'previous.stop', id, name, instanceId: of, restartPolicy },
      ],
    ),
    ...(gate.beforeStart.get(instanceId) ?? []),
    ...(instance?.preparations ?? []).map((_, index): Step => ({ kind: 'instance.prepare', instanceId, index })),
    { kind: 'container.start', instanceId },
  ]
}

/** Containers to stop right before an instance starts: its own previous one, and others that hold what it needs. */
function stopsBefore(
  planned: PlannedInstance,
  instance: ResolvedInstance | undefined,
  { stopped }: Stops,
): StoppedContainer[] {
  return [...stopped.values()].filter(
    ({ previous }) =>
      previous.id === planned.previous?.id || (instance && contestedPort(instance.base, previous) !== undefined),
  )
}

function cleanUpSteps(
  { handoverNetwork, network, observed, release, stops, transition }: PlanContext,
  leaving: readonly Leaving[],
): Step[] {
  const options = { joining: transition.changing.length, networks: new Set([network, handoverNetwork]) }
  const inUse = observed.owned.some(
    (container) =>
      leaving.some(({ id, wasRunning }) => wasRunning && id === container.id) &&
      !stops.stopped.has(container.id) &&
      mayHaveConnections(container, observed.owned, options),
  )
  return [
    ...(inUse && release.drainMs > 0 ? [{ kind: 'drain' as const, ms: release.drainMs }] : []),
    ...leaving.map(({ id, name, instanceId }) => ({ kind: 'previous.remove' as const, id, name, instanceId })),
  ]
}

/** New containers are removed first: what they held must be free before the previous ones return. */
function toUndo(
  changing: readonly PlannedInstance[],
  leaving: readonly Leaving[],
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

/**
 * Names of the neighbours as this container alone resolves them: each resolves to the container that has the long name at the moment, so a
 * handover by rename moves every lookup at once and does not affect open connections.
 */
function getLinks(desired: readonly ResolvedInstance[], observed: Observation, network: string): string[] {
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
  return Boolean(probes?.readinessProbe || probes?.startupProbe || probes?.livenessProbe || hasHealthTest(probes, {}))
}

function toRecord(container: ObservedContainer): PreviousContainer {
  const { id, name, restartPolicy } = container
  return { id, name, wasRunning: isRunning(container), restartPolicy }
}

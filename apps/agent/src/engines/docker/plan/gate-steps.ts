import type { GatedPort, ObservedContainer, PublishedPort } from '../containers/container-engine.ts'
import { getDrainSeconds, getGateDrainSeconds } from '../containers/gated-ports.ts'
import { samePort, sharedPort } from './conflicts.ts'
import type { DesiredInstance } from './container-spec.ts'
import type { Mode, Step } from './steps.ts'
import { isRunning } from './transition.ts'

/** The steps of a release at the gate, by their position among its other steps. */
export interface GateSteps {
  prepare: Step[]
  /** By engine id of a container that is stopped. */
  beforeStop: ReadonlyMap<string, Step[]>
  /** By instance: after its stops, before its start. */
  beforeStart: ReadonlyMap<string, Step[]>
  /** By instance: when it is verified. */
  verified: ReadonlyMap<string, Step[]>
  handover: Step[]
  cleanUp: Step[]
  undo: { first: Step[]; beforeRestore: Step[]; last: Step[] }
}

interface Parts {
  changing: readonly { instance: DesiredInstance; mode: Mode; previous: ObservedContainer | undefined }[]
  orphans: readonly ObservedContainer[]
  /** Engine ids of the containers that are stopped before another one starts. */
  stopped: ReadonlySet<string>
}

/** A container that a release replaces or removes. */
interface Leaving {
  container: ObservedContainer
  /** Empty where no instance replaces it. */
  instanceId: string
  drainSeconds: number
}

/** The ports of a release, and who has them before. */
interface PortsInPlay {
  leaving: readonly Leaving[]
  /** Gated ports of the new containers. */
  wanted: readonly GatedPort[]
  /** Gated ports of the leaving containers. */
  givenUp: readonly GatedPort[]
  /** Ports that the engine itself holds for containers that leave. */
  byEngine: readonly PublishedPort[]
}

/**
 * A port is taken before anything else changes, so that a refusal changes nothing; only where the engine itself holds it for a container
 * that leaves, it is taken right after that container's stop. It is routed to the new container when that one is verified: together with
 * all others of the release where the old one still runs, at once where it does not.
 */
export function gateSteps({ changing, orphans, stopped }: Parts): GateSteps {
  const leaving = listLeaving(changing, orphans)
  const wanted = changing.flatMap(({ instance }) => instance.base.gated)
  const givenUp = leaving.flatMap(({ container }) => container.gated)
  const byEngine = leaving.flatMap(({ container }) => (isRunning(container) ? container.published : []))
  const ports: PortsInPlay = { leaving, wanted, givenUp, byEngine }

  const prepare: Step[] = []
  const beforeStart = new Map<string, Step[]>()
  const verified = new Map<string, Step[]>()
  const handover: Step[] = []
  for (const change of changing) {
    const { instanceId, base } = change.instance
    const { first, later } = reserveSteps(change.instance, ports)
    prepare.push(...first)
    if (later.length > 0) beforeStart.set(instanceId, later)
    if (base.gated.length === 0) continue
    const { wait, route } = routeSteps(change, ports)
    verified.set(instanceId, change.mode === 'beside' ? [wait] : [wait, route])
    if (change.mode === 'beside') handover.push(route)
  }
  const dropped = givenUp.filter((port) => !wanted.some((other) => samePort(port, other)))
  if (dropped.length > 0) handover.push({ kind: 'gate.release', ports: dropped })

  const taken = wanted.filter((port) => !givenUp.some(isSame(port)))
  const isStopped = ({ container }: Leaving) => stopped.has(container.id)
  return {
    prepare,
    beforeStop: suspendSteps(leaving.filter(isStopped), wanted),
    beforeStart,
    verified,
    handover,
    cleanUp: drainSteps(leaving.filter((one) => !isStopped(one))),
    undo: {
      first: routeBackSteps(
        leaving.filter((one) => !isStopped(one)),
        wanted,
      ),
      beforeRestore: taken.length > 0 ? [{ kind: 'gate.release', ports: taken }] : [],
      last: routeBackSteps(leaving.filter(isStopped), wanted),
    },
  }
}

function listLeaving(changing: Parts['changing'], orphans: Parts['orphans']): Leaving[] {
  return [
    ...changing.flatMap(({ instance: { instanceId, config }, previous }) =>
      previous ? [{ container: previous, instanceId, drainSeconds: getDrainSeconds(config) }] : [],
    ),
    ...orphans.map((container) => ({
      container,
      instanceId: '',
      drainSeconds: getGateDrainSeconds(container.labels),
    })),
  ]
}

const isSame = (a: PublishedPort) => (b: PublishedPort) => a.hostPort === b.hostPort && a.address === b.address

/** The ports that the gate holds for other addresses: it cannot listen on both at once. */
const listReplacements = (ports: readonly PublishedPort[], others: readonly GatedPort[]) =>
  others.filter((other) => ports.some((port) => samePort(port, other)) && !ports.some(isSame(other)))

/** `first`: before anything changes. `later`: when the containers that hold the ports have stopped. */
function reserveSteps(
  { instanceId, base }: DesiredInstance,
  { byEngine, givenUp }: PortsInPlay,
): { first: Step[]; later: Step[] } {
  const free = base.gated.filter(
    (port) => !sharedPort([port], byEngine) && listReplacements([port], givenUp).length === 0,
  )
  const blocked = base.gated.filter((port) => sharedPort([port], byEngine))
  const released = givenUp.filter((port) => sharedPort([port], base.published))
  return {
    first: free.length > 0 ? [{ kind: 'gate.reserve', instanceId, ports: free }] : [],
    later: [
      ...(released.length > 0 ? [{ kind: 'gate.release' as const, ports: released }] : []),
      ...(blocked.length > 0 ? [{ kind: 'gate.reserve' as const, instanceId, ports: blocked }] : []),
    ],
  }
}

function routeSteps(
  { instance: { instanceId, base }, mode, previous }: Parts['changing'][number],
  { givenUp }: PortsInPlay,
): { wait: Step; route: Step } {
  return {
    wait: {
      kind: 'gate.wait',
      instanceId,
      ports: base.gated,
      ...(mode === 'beside' && previous ? { previous: { id: previous.id } } : {}),
    },
    route: {
      kind: 'gate.route',
      target: { kind: 'new', instanceId },
      instanceId,
      ports: base.gated,
      instead: listReplacements(base.gated, givenUp),
    },
  }
}

/** By engine id. */
function suspendSteps(stopped: readonly Leaving[], wanted: readonly GatedPort[]): Map<string, Step[]> {
  return new Map(
    stopped.flatMap(({ container: { id, name, gated }, instanceId }) => {
      const ports = gated.filter((port) => wanted.some(isSame(port)))
      const steps: Step[] = [{ kind: 'gate.suspend', previous: { id, name }, instanceId, ports }]
      return ports.length > 0 ? [[id, steps] as const] : []
    }),
  )
}

function drainSteps(leaving: readonly Leaving[]): Step[] {
  const previousContainers = leaving
    .filter(({ container }) => container.gated.length > 0 && isRunning(container))
    .map(({ container: { id, name }, instanceId, drainSeconds }) => ({
      id,
      name,
      instanceId,
      ms: drainSeconds * 1_000,
    }))
  return previousContainers.length > 0 ? [{ kind: 'gate.drain', previousContainers }] : []
}

function routeBackSteps(leaving: readonly Leaving[], wanted: readonly GatedPort[]): Step[] {
  return leaving
    .filter(({ container }) => container.gated.length > 0 && isRunning(container))
    .map(({ container: { id, name, gated }, instanceId }) => ({
      kind: 'gate.route',
      target: { kind: 'previous', id, name },
      instanceId,
      ports: gated,
      instead: listReplacements(gated, wanted),
    }))
}

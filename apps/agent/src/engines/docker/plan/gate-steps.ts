import type { GatedPort, ObservedContainer, PublishedPort } from '../containers/container-engine.ts'
import { drainSecondsOf, gateDrainSecondsOf } from '../containers/gated-ports.ts'
import { samePort, sharedPort } from './conflicts.ts'
import type { DesiredInstance } from './container-spec.ts'
import type { Mode, Step } from './steps.ts'

/** The steps of a release at the gate, by their position among its other steps. */
export interface GateSteps {
  prepare: Step[]
  /** By engine id of a container that is stopped. */
  beforeStop: ReadonlyMap<string, Step[]>
  /** By instance: after its stops, before its start. */
  beforeStart: ReadonlyMap<string, Step[]>
  /** By instance: when it is verified. */
  verified: ReadonlyMap<string, Step[]>
  swap: Step[]
  cleanUp: Step[]
  undo: { first: Step[]; beforeRestore: Step[]; last: Step[] }
}

interface Parts {
  changing: readonly { instance: DesiredInstance; mode: Mode; previous: ObservedContainer | undefined }[]
  orphans: readonly ObservedContainer[]
  /** Engine ids of the containers that are stopped before another one starts. */
  stopped: ReadonlySet<string>
}

/**
 * A port is taken before anything else changes, so that a refusal changes nothing; only where the engine itself holds it for a container
 * that leaves, it is taken right after that container's stop. It is routed to the new container when that one is verified: together with
 * all others of the release where the old one still runs, at once where it does not.
 */
export function gateSteps({ changing, orphans, stopped }: Parts): GateSteps {
  const leaving = [
    ...changing.flatMap(({ instance, previous }) =>
      previous
        ? [{ container: previous, instanceId: instance.instanceId, drainSeconds: drainSecondsOf(instance.config) }]
        : [],
    ),
    ...orphans.map((container) => ({
      container,
      instanceId: '',
      drainSeconds: gateDrainSecondsOf(container.labels),
    })),
  ]
  const wanted = changing.flatMap(({ instance }) => instance.base.gated)
  const givenUp = leaving.flatMap(({ container }) => container.gated)
  const byEngine = leaving.flatMap(({ container }) => (isRunning(container) ? container.published : []))
  const isSame = (a: PublishedPort) => (b: PublishedPort) => a.hostPort === b.hostPort && a.address === b.address
  /** The gate holds the port for other addresses: it cannot listen on both at once. */
  const insteadOf = (ports: readonly PublishedPort[], others: readonly GatedPort[]) =>
    others.filter((other) => ports.some((port) => samePort(port, other)) && !ports.some(isSame(other)))

  const prepare: Step[] = []
  const beforeStop = new Map<string, Step[]>()
  const beforeStart = new Map<string, Step[]>()
  const verified = new Map<string, Step[]>()
  const swap: Step[] = []
  for (const { instance, mode, previous } of changing) {
    const { instanceId, base } = instance
    const free = base.gated.filter((port) => !sharedPort([port], byEngine) && insteadOf([port], givenUp).length === 0)
    const blocked = base.gated.filter((port) => sharedPort([port], byEngine))
    const released = givenUp.filter((port) => sharedPort([port], base.published))
    if (free.length > 0) prepare.push({ kind: 'gate.reserve', instanceId, ports: free })
    const before: Step[] = [
      ...(released.length > 0 ? [{ kind: 'gate.release' as const, ports: released }] : []),
      ...(blocked.length > 0 ? [{ kind: 'gate.reserve' as const, instanceId, ports: blocked }] : []),
    ]
    if (before.length > 0) beforeStart.set(instanceId, before)
    if (base.gated.length === 0) continue
    const lead: Step = {
      kind: 'gate.route',
      target: { kind: 'new', instanceId },
      instanceId,
      ports: base.gated,
      instead: insteadOf(base.gated, givenUp),
    }
    const awaits: Step = {
      kind: 'gate.wait',
      instanceId,
      ports: base.gated,
      ...(mode === 'beside' && previous ? { previous: { id: previous.id } } : {}),
    }
    verified.set(instanceId, mode === 'beside' ? [awaits] : [awaits, lead])
    if (mode === 'beside') swap.push(lead)
  }
  for (const { container, instanceId } of leaving) {
    if (!stopped.has(container.id)) continue
    const ports = container.gated.filter((port) => wanted.some(isSame(port)))
    const { id, name } = container
    if (ports.length > 0) beforeStop.set(id, [{ kind: 'gate.suspend', previous: { id, name }, instanceId, ports }])
  }
  const dropped = givenUp.filter((port) => !wanted.some((other) => samePort(port, other)))
  if (dropped.length > 0) swap.push({ kind: 'gate.release', ports: dropped })

  const draining = leaving.filter(
    ({ container }) => container.gated.length > 0 && isRunning(container) && !stopped.has(container.id),
  )
  const back = (of: typeof leaving): Step[] =>
    of
      .filter(({ container }) => container.gated.length > 0 && isRunning(container))
      .map(({ container, instanceId }) => ({
        kind: 'gate.route',
        target: { kind: 'previous', id: container.id, name: container.name },
        instanceId,
        ports: container.gated,
        instead: insteadOf(container.gated, wanted),
      }))
  const taken = wanted.filter((port) => !givenUp.some(isSame(port)))
  return {
    prepare,
    beforeStop,
    beforeStart,
    verified,
    swap,
    cleanUp:
      draining.length === 0
        ? []
        : [
            {
              kind: 'gate.drain',
              previousContainers: draining.map(({ container, instanceId, drainSeconds }) => ({
                id: container.id,
                name: container.name,
                instanceId,
                ms: drainSeconds * 1_000,
              })),
            },
          ],
    undo: {
      first: back(leaving.filter(({ container }) => !stopped.has(container.id))),
      beforeRestore: taken.length > 0 ? [{ kind: 'gate.release', ports: taken }] : [],
      last: back(leaving.filter(({ container }) => stopped.has(container.id))),
    },
  }
}

function isRunning({ state }: ObservedContainer): boolean {
  return state === 'running' || state === 'restarting' || state === 'paused'
}

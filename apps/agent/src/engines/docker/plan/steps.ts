import type {
  ContainerSummary,
  GatedPort,
  ImageMetadata,
  ObservedContainer,
  PublishedPort,
  RestartPolicy,
} from '../containers/container-engine.ts'
import type { DesiredInstance } from './container-spec.ts'

/** The container of a step: the release's own of an instance, or one that existed before. */
export type Target = { kind: 'new'; instanceId: string } | { kind: 'previous'; id: string; name: string }

/** All kinds of steps of a release. Each is safe to repeat, because a restarted agent repeats steps. */
export type Step =
  | { kind: 'network.ensure'; network: string; internal: boolean }
  /** The team's network under a key. */
  | { kind: 'team-network.ensure'; network: string; key: string }
  /** A network of the engine that Crux must not create. */
  | { kind: 'engine-network.verify'; network: string }
  | { kind: 'container.create'; instanceId: string }
  /** Stops a previous container and keeps the engine from starting it again on its own. */
  | { kind: 'previous.stop'; id: string; name: string; instanceId: string; restartPolicy: RestartPolicy }
  /** One of the instance's preparations, by its index. */
  | { kind: 'instance.prepare'; instanceId: string; index: number }
  | { kind: 'container.start'; instanceId: string }
  | { kind: 'container.verify'; instanceId: string }
  /** Gives a verified container its restart policy: before that, a policy would hide that it ends and restarts. */
  | { kind: 'container.finalize'; instanceId: string }
  | { kind: 'network.join'; target: Target; network: string; aliases: readonly string[] }
  | { kind: 'container.rename'; target: Target; from: string; to: string }
  /** The gate listens, even where it does not route anywhere yet: clients wait. */
  | { kind: 'gate.reserve'; instanceId: string; ports: readonly GatedPort[] }
  /** Clients wait from now on, and the container may finish its current answers: it is about to stop. */
  | { kind: 'gate.suspend'; previous: { id: string; name: string }; instanceId: string; ports: readonly GatedPort[] }
  /** Waits until the container accepts connections on the ports that will be routed to it. */
  | { kind: 'gate.wait'; instanceId: string; ports: readonly GatedPort[]; previous?: { id: string } }
  /** New connections are routed to this container from now on. `instead` are ports that the gate gives up for it. */
  | {
      kind: 'gate.route'
      target: Target
      instanceId: string
      ports: readonly GatedPort[]
      instead: readonly PublishedPort[]
    }
  | { kind: 'gate.release'; ports: readonly PublishedPort[] }
  /** Lets the connections to replaced containers end. */
  | { kind: 'gate.drain'; previousContainers: readonly { id: string; name: string; instanceId: string; ms: number }[] }
  | { kind: 'drain'; ms: number }
  | { kind: 'previous.remove'; id: string; name: string; instanceId: string }
  | { kind: 'new.discard'; instanceId: string }
  /** Removes containers of preparations that were not completed. */
  | { kind: 'preparation.discard'; instanceId: string }
  | { kind: 'previous.restore'; id: string; name: string; instanceId: string; restartPolicy: RestartPolicy }

export type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>

/** How an instance gets from its current container to the desired one. */
export type Mode =
  /** Nothing changed: the container stays. */
  | 'keep'
  /** No container has its name. */
  | 'first'
  /** The new container starts beside the running old one and takes over when it is verified. */
  | 'beside'
  /** The old container, if it runs, is stopped first, since the two cannot run at once. */
  | 'after'

export interface PreviousContainer {
  id: string
  name: string
  wasRunning: boolean
  restartPolicy: RestartPolicy
}

export interface PlannedInstance {
  instanceId: string
  full: string
  mode: Mode
  /** Name that its new container is created with. */
  createName: string
  aliases: readonly string[]
  links: readonly string[]
  /** Networks besides the first, joined before the start. */
  networks: readonly { name: string; aliases: readonly string[] }[]
  previous?: PreviousContainer
  /** Why the service has downtime, for the log; only for `after` with a running previous container. */
  reasons: readonly string[]
  /**
   * Whether the instances after it wait until it is verified. That is the case only where its configuration names an expected state or a
   * health check.
   */
  holdsBack: boolean
}

/** Can be serialized to JSON: the journal stores it, so that a restarted agent continues with the same plan. It contains no secret. */
export interface Plan {
  network: string
  handoverNetwork: string
  instances: readonly PlannedInstance[]
  prepare: readonly Step[]
  create: readonly Step[]
  /** Per instance, in the version's order; `verified` follows when it is. */
  start: readonly { instanceId: string; steps: readonly Step[]; verified?: readonly Step[] }[]
  finalize: readonly Step[]
  handover: readonly Step[]
  /** After this the release cannot be undone: old containers are removed. */
  cleanUp: readonly Step[]
  /** Groups run one after another, the steps of a group in parallel. */
  undo: readonly (readonly Step[])[]
}

export interface Observation {
  /** All containers of the node. */
  all: readonly ContainerSummary[]
  /** Details of those that belong to the release's owner. */
  owned: readonly ObservedContainer[]
}

export interface ResolvedInstance extends DesiredInstance {
  digest: string
  metadata: ImageMetadata
  /** Whether the engine's store had the image under its readable name when it was checked. */
  tagged: boolean
  /** Whether this attempt had to fetch it. */
  wasPulled: boolean
  /** Images of its preparations, by the name in the configuration. */
  preparationImages: ReadonlyMap<string, PreparationImage>
}

export interface PreparationImage {
  digest: string
  metadata: ImageMetadata
}

/** Consecutive steps of these kinds concern different containers, and none needs the result of the one before. */
const independent: ReadonlySet<Step['kind']> = new Set(['network.join', 'container.rename', 'previous.remove'])

/** Returns the steps in their order, with independent steps grouped. Previous containers give up their names before new ones take them. */
export function toStages(steps: readonly Step[]): Step[][] {
  const stages: Step[][] = []
  let last = ''
  for (const step of steps) {
    const key = independent.has(step.kind) ? `${step.kind} ${'target' in step ? step.target.kind : ''}` : ''
    const stage = stages.at(-1)
    if (stage && key !== '' && key === last) stage.push(step)
    else stages.push([step])
    last = key
  }
  return stages
}

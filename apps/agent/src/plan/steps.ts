import type { GatedPort, PublishedPort, RestartPolicy } from '../drivers/container-engine.ts'

/** A container that a step is about: the release's own of an instance, or one that was there before. */
export type Target = { kind: 'new'; instanceId: string } | { kind: 'previous'; id: string; name: string }

/** What can be done on the way to a release. Each is harmless to repeat: a restarted agent does so. */
export type Step =
  | { kind: 'network.ensure'; network: string; internal: boolean }
  /** The team's network under a key. */
  | { kind: 'team-network.ensure'; network: string; key: string }
  /** A network of the engine that is not ours to make. */
  | { kind: 'engine-network.verify'; network: string }
  | { kind: 'container.create'; instanceId: string }
  /** Stops a former container and keeps the engine from starting it again on its own. */
  | { kind: 'previous.stop'; id: string; name: string; instanceId: string; restartPolicy: RestartPolicy }
  /** One of the instance's preparations, by its place among them. */
  | { kind: 'instance.prepare'; instanceId: string; index: number }
  | { kind: 'container.start'; instanceId: string }
  | { kind: 'container.verify'; instanceId: string }
  /** Gives a verified container its restart policy: until then a policy would hide that it ends and starts again. */
  | { kind: 'container.finalize'; instanceId: string }
  | { kind: 'network.join'; target: Target; network: string; aliases: readonly string[] }
  | { kind: 'container.rename'; target: Target; from: string; to: string }
  /** The gate listens, also where it does not lead anywhere yet: whoever connects waits. */
  | { kind: 'gate.reserve'; instanceId: string; ports: readonly GatedPort[] }
  /** Whoever connects waits from now on, and what the container is answering may end: it is about to stop. */
  | { kind: 'gate.suspend'; previous: { id: string; name: string }; instanceId: string; ports: readonly GatedPort[] }
  /** Waits until the container accepts connections on the ports that will lead to it. */
  | { kind: 'gate.wait'; instanceId: string; ports: readonly GatedPort[]; previous?: { id: string } }
  /** New connections go to this container from now on. `instead` are ports that the gate gives up for it. */
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
  /** Containers that a preparation made and that were not done. */
  | { kind: 'preparation.discard'; instanceId: string }
  | { kind: 'previous.restore'; id: string; name: string; instanceId: string; restartPolicy: RestartPolicy }

export type StepOf<K extends Step['kind']> = Extract<Step, { kind: K }>

/** How an instance gets from what stands to what shall stand. */
export type Mode =
  /** Nothing changed: it stays as it is. */
  | 'keep'
  /** Nothing stands under its name. */
  | 'first'
  /** The new one is started beside the running old one and takes over when it is verified. */
  | 'beside'
  /** The old one, if it runs, is stopped first, since the two cannot run at once. */
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
  /** Why the service pauses, for the log; only for `after` with a running former one. */
  reasons: readonly string[]
  /** Whether those after it wait until it is verified (decision 24). */
  holdsBack: boolean
}

/** JSON-able: the journal keeps it, so that a restarted agent goes on with the same plan. It holds no secret. */
export interface Plan {
  network: string
  handoverNetwork: string
  instances: readonly PlannedInstance[]
  prepare: readonly Step[]
  create: readonly Step[]
  /** Per instance, in the version's order; `verified` follows when it is. */
  start: readonly { instanceId: string; steps: readonly Step[]; verified?: readonly Step[] }[]
  finalize: readonly Step[]
  swap: readonly Step[]
  /** After this there is no way back: old containers go. */
  cleanUp: readonly Step[]
  /** Groups one after another, the steps of a group side by side. */
  undo: readonly (readonly Step[])[]
}

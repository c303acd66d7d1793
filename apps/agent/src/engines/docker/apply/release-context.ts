import type { Release } from '@crux/agent-protocol'
import type { Logger } from '@crux/service-kit'
import type { DataDirectory } from '../../../files/data-directory.ts'
import type { Journal } from '../../../journal/journal.ts'
import type { ProgressReporter } from '../../../journal/progress-reporter.ts'
import type { OpenedSecrets } from '../../../secrets/environment.ts'
import type { ReleaseControl } from '../../engine.ts'
import { type ExpectedState, toExpectation } from '../../expectation.ts'
import type { RegistryDigests } from '../../images/registry-digests.ts'
import type { Driver } from '../containers/container-engine.ts'
import type { Gate } from '../gate/gate.ts'
import type { ImageClaims } from '../images/claims.ts'
import type { FetchedImages } from '../images/fetched.ts'
import type { TeamNetworks } from '../networks/team-networks.ts'
import type { NodeEnvironment } from '../plan/container-spec.ts'
import type { Plan, PlannedInstance, ResolvedInstance, Step, StepOf } from '../plan/steps.ts'
import type { BindSources } from '../volumes/bind-sources.ts'
import type { Watched } from './verify.ts'

/** The parts of this engine that all releases of the node share. */
export interface DockerNode {
  readonly driver: Driver
  readonly gate: Gate
  readonly teamNetworks: TeamNetworks
  readonly nodeEnvironment: NodeEnvironment
  readonly data: DataDirectory
  readonly sources: BindSources
  readonly decrypt: (message: string) => Promise<string>
  readonly images: { claims: ImageClaims; fetched: FetchedImages; digests: Pick<RegistryDigests, 'find' | 'close'> }
  /** Separates work that names the same image. */
  readonly createLock: <T>(key: string, work: () => Promise<T>) => Promise<T>
  readonly log: Logger
}

/** What one release is about, from its start to its end. Nothing in it changes; what changes is in the journal. */
export interface ReleaseContext {
  readonly node: DockerNode
  readonly journal: Journal
  readonly release: Release
  readonly progressReporter: ProgressReporter
  readonly control: ReleaseControl
  readonly signal: AbortSignal
}

/** A release with its plan: what the executors of its steps share. */
export interface StepContext extends ReleaseContext {
  readonly plan: Plan
  /** By instance. */
  readonly resolved: ReadonlyMap<string, ResolvedInstance>
  readonly secrets: OpenedSecrets
  readonly state: ReleaseState
}

/** Carries out a kind of step. */
export type ExecutorsOf<K extends Step['kind']> = { [P in K]: (step: StepOf<P>, context: StepContext) => Promise<void> }
export type Executors = ExecutorsOf<Step['kind']>

/** The plan of a release that has one. Only this engine reads what it has written. */
export function getPlan(journal: Journal): Plan | undefined {
  const { plan } = journal.state
  return isPlan(plan) ? plan : undefined
}

const isPlan = (value: unknown): value is Plan => typeof value === 'object' && value !== null && 'instances' in value

export function toStepContext(
  context: ReleaseContext,
  plan: Plan,
  given: { resolved: readonly ResolvedInstance[]; secrets: OpenedSecrets; resumed: boolean },
): StepContext {
  return {
    ...context,
    plan,
    resolved: new Map(given.resolved.map((instance) => [instance.instanceId, instance])),
    secrets: given.secrets,
    state: new ReleaseState(context.journal, { resumed: given.resumed }),
  }
}

/**
 * The context of undo and clean-up, which neither a cancellation nor a missing link stops. Their steps read the state of the engine
 * themselves, so the plan of the journal suffices, without images or secrets.
 */
export function toFinalContext(context: ReleaseContext, plan: Plan): StepContext {
  const { control } = context
  return toStepContext({ ...context, signal: control.ending }, plan, {
    resolved: [],
    secrets: new Map(),
    resumed: true,
  })
}

export function getParts(
  { plan, release, resolved }: StepContext,
  instanceId: string,
): { planned: PlannedInstance; instance: ResolvedInstance; expected: ExpectedState } {
  const planned = plan.instances.find((candidate) => candidate.instanceId === instanceId)
  const instance = resolved.get(instanceId)
  if (!planned || !instance) throw new Error(`instance ${instanceId} is not part of the release`)
  return { planned, instance, expected: toExpectation(instance.config, release.observationWindowMs) }
}

/**
 * How far the steps of a release are. The journal has what cannot be seen on the engine, so that a restarted agent continues there; the
 * rest is found again by labels, or costs only a repeated request.
 */
class ReleaseState {
  /** Whether an earlier process of this agent started the release. */
  readonly resumed: boolean
  /** Engine ids of the release's own containers that exist, by instance. */
  readonly containers = new Map<string, string>()
  /** Networks that are known to exist. */
  readonly networks = new Set<string>()
  readonly watched = new Map<string, { watched: Watched; startedAt: number }>()
  /** Volumes, by instance, whose files a preparation started to replace: a failed release does not restore them. */
  readonly overwritten: { instanceId: string; volume: string }[] = []
  readonly #journal: Journal

  constructor(journal: Journal, options: { resumed: boolean }) {
    this.#journal = journal
    this.resumed = options.resumed
  }

  /** Whether this process or an earlier one completed the preparation. */
  isPrepared(preparation: string): boolean {
    return this.#journal.state.done?.includes(preparation) ?? false
  }

  /** Resolves when the journal has stored that the preparation is complete. */
  async setPrepared(preparation: string): Promise<void> {
    await this.#journal.decide({ done: [...(this.#journal.state.done ?? []), preparation] })
  }
}

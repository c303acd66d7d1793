import type { Release } from '@crux/agent-protocol'
import type { Logger } from '@crux/service-kit'
import type { DataDirectory } from '../../../files/data-directory.ts'
import type { Journal } from '../../../journal/journal.ts'
import type { ProgressReporter } from '../../../journal/progress-reporter.ts'
import type { OpenedSecrets } from '../../../secrets/environment.ts'
import type { ReleaseControl } from '../../engine.ts'
import type { Driver } from '../containers/driver.ts'
import type { Gate } from '../gate/gate.ts'
import type { ImageClaims } from '../images/claims.ts'
import type { FetchedImages } from '../images/fetched.ts'
import type { RegistryDigests } from '../images/registry-digests.ts'
import type { TeamNetworks } from '../networks/team-networks.ts'
import type { NodeEnvironment } from '../plan/container-spec.ts'
import type { ResolvedInstance } from '../plan/observation.ts'
import type { Plan, PlannedInstance, Step, StepOf } from '../plan/steps.ts'
import type { BindSources } from '../volumes/bind-sources.ts'
import { ReleaseState } from './release-state.ts'

/** The parts of this engine that all releases of the node share. */
export interface DockerNode {
  readonly driver: Driver
  readonly gate: Gate
  readonly teamNetworks: TeamNetworks
  readonly nodeEnvironment: NodeEnvironment
  readonly data: DataDirectory
  readonly sources: BindSources
  readonly decrypt: (message: string) => Promise<string>
  readonly images: { claims: ImageClaims; fetched: FetchedImages; digests: RegistryDigests }
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
export function planOf(journal: Journal): Plan | undefined {
  return journal.state.plan as Plan | undefined
}

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

export function partsOf(
  { plan, resolved }: StepContext,
  instanceId: string,
): { planned: PlannedInstance; instance: ResolvedInstance } {
  const planned = plan.instances.find((candidate) => candidate.instanceId === instanceId)
  const instance = resolved.get(instanceId)
  if (!planned || !instance) throw new Error(`instance ${instanceId} is not part of the release`)
  return { planned, instance }
}

import type { Release } from '@crux/agent-protocol'
import { PlanError } from '../../../errors/plan-error.ts'
import type { DataDirectory } from '../../../files/data-directory.ts'
import type { ProgressReporter } from '../../../journal/progress-reporter.ts'
import type { OpenedSecrets } from '../../../secrets/environment.ts'
import { ownerLabels } from '../../labels.ts'
import type { Driver } from '../containers/driver.ts'
import { handoverNetworkName, networkName } from '../containers/names.ts'
import type { Gate } from '../gate/gate.ts'
import type { TeamNetworks } from '../networks/team-networks.ts'
import type { ResolvedInstance } from '../plan/observation.ts'
import type { Plan, PlannedInstance } from '../plan/steps.ts'
import type { BindSources } from '../volumes/bind-sources.ts'
import type { Watched } from './verify.ts'

/** The state that the steps of one release share. */
export interface Run {
  driver: Driver
  gate: Gate
  teamNetworks: TeamNetworks
  release: Release
  plan: Plan
  resolved: ReadonlyMap<string, ResolvedInstance>
  progressReporter: ProgressReporter
  data: DataDirectory
  sources: BindSources
  secrets: OpenedSecrets
  signal: AbortSignal
  /** Whether an earlier process of this agent started the release. */
  resumed: boolean
  /** Networks that are known to exist. */
  ensured: Set<string>
  /** Engine ids of the release's own containers that exist. */
  ids: Map<string, string>
  watched: Map<string, { watched: Watched; startedAt: number }>
  /** Preparations that this process or an earlier one completed. */
  done: ReadonlySet<string>
  /** Volumes, by instance, whose files a preparation started to replace: a failed release does not restore them. */
  overwritten: { instanceId: string; volume: string }[]
  /** Resolves when the journal has stored the preparation. */
  remember: (preparation: string) => Promise<void>
  createLock: <T>(key: string, work: () => Promise<T>) => Promise<T>
}

export function partsOf(run: Run, instanceId: string): { planned: PlannedInstance; instance: ResolvedInstance } {
  const planned = run.plan.instances.find((candidate) => candidate.instanceId === instanceId)
  const instance = run.resolved.get(instanceId)
  if (!planned || !instance) throw new Error(`instance ${instanceId} is not part of the release`)
  return { planned, instance }
}

/** Makes a network of the release where it is missing; its own ones say whose they are. */
/**
 * Creates the network of the release's prefix where it is missing.
 *
 * @throws PlanError for any other network; only a plan from an agent that is older than team networks can name one
 */
export async function ensureOwnNetwork(
  driver: Driver,
  { owner }: Release,
  name: string,
  internal: boolean,
): Promise<void> {
  if (!owner || (name !== networkName(owner) && name !== handoverNetworkName(owner)))
    throw new PlanError('', `the network ${name} was planned by an older agent: deploy again`)
  await driver.engine.ensureNetwork({ name, internal, labels: ownerLabels(owner) })
}

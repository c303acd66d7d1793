import {
  type DeploymentEvent as AgentEvent,
  ContainerState,
  LogLevel,
  type Outcome,
  Phase,
  PhaseState,
  type ReportDeploymentRequest,
} from '@crux/agent-protocol'
import type {
  DeploymentPhase,
  ContainerState as WireContainerState,
  PhaseState as WirePhaseState,
} from '@crux/contract'
import { isUuid } from '@crux/service-kit'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { rememberImages } from '../nodes/index.ts'
import { appendEvents, type NewEvent, statusEvent } from './event-store.ts'
import { type DeploymentUpdate, deploymentsChanged } from './events.ts'
import { acknowledgeJournal, type InstanceChange, updateInstances } from './journal-store.ts'
import { endRelease, isOpen, makeObsolete } from './outcome-store.ts'
import { findCurrentRelease, lockRelease, type ReleaseRow } from './store.ts'

export type Stored = { acknowledged: bigint; ended: boolean }

/**
 * Stores a batch of an agent's journal and its effects in one transaction. A repeated batch changes nothing. A batch of
 * a release that is unknown here, or not this node's, is acknowledged so that the agent drops it.
 */
export async function storeBatch(app: App, agent: { nodeId: string }, batch: ReportDeploymentRequest): Promise<Stored> {
  const { release: key } = batch
  const last = batch.events.at(-1)?.sequence ?? 0n
  if (!key || !isUuid(key.deploymentId)) return { acknowledged: last, ended: false }
  const result = await inTransaction(app.database, async (queries) => {
    const release = await lockRelease(queries, { ...key, nodeId: agent.nodeId })
    if (!release) {
      app.log.warn({ ...key, nodeId: agent.nodeId }, 'an agent reports a release that is not known here')
      return { stored: { acknowledged: last, ended: false }, updates: [] }
    }
    const events = batch.events.filter((event) => event.sequence > BigInt(release.acknowledgedSequence))
    if (events.length === 0)
      return { stored: { acknowledged: BigInt(release.acknowledgedSequence), ended: !isOpen(release) }, updates: [] }
    return storeEvents(app, queries, release, events)
  })
  deploymentsChanged(app, result.updates)
  return result.stored
}

async function storeEvents(app: App, queries: Queries, release: ReleaseRow, events: AgentEvent[]) {
  const outcome = events.find((event) => event.event.case === 'outcome')
  const failure =
    outcome?.event.case === 'outcome' && !outcome.event.value.successful
      ? await describeFailure(queries, release, outcome.event.value)
      : undefined
  const updates: DeploymentUpdate[] = []
  const position = await appendEvents(
    queries,
    release.deploymentId,
    release.number,
    events.flatMap((event) => {
      const row = toRow(event, failure)
      return row ? [{ ...row, at: toTime(event), agentSequence: Number(event.sequence) }] : []
    }),
  )
  await foldIntoInstances(queries, release, events)
  const acknowledged = events.at(-1)?.sequence ?? 0n
  await acknowledgeJournal(queries, release.id, acknowledged)
  let mine: DeploymentUpdate = { deploymentId: release.deploymentId, teamId: release.teamId }
  if (outcome?.event.case === 'outcome' && isOpen(release)) {
    const end = outcome.event.value
    const ended = await endRelease(
      app,
      queries,
      release,
      end.successful
        ? { kind: 'successful', containerNames: end.containerNames }
        : { kind: 'failed', reason: getReason(end, release) },
    )
    if (ended) mine = ended
    if (ended?.status === 'successful') updates.push(...(await makeObsolete(queries, release)))
  }
  updates.unshift({ ...mine, try: release.number, position })
  return { stored: { acknowledged, ended: outcome !== undefined }, updates }
}

/** Stores digests and the progress of each image, for lists, the progress bar and a later rollback. */
async function foldIntoInstances(
  queries: Queries,
  { id: releaseId, nodeId }: ReleaseRow,
  events: readonly AgentEvent[],
): Promise<void> {
  const changes = new Map<string, InstanceChange>()
  for (const { event } of events) {
    if (event.case === 'resolved') {
      const { instanceId, digest, preparationDigests } = event.value
      changes.set(instanceId, { ...changes.get(instanceId), digest, preparationDigests })
    }
    if (event.case === 'phase')
      changes.set(event.value.instanceId, {
        ...changes.get(event.value.instanceId),
        phase: phases[event.value.phase],
        phaseState: phaseStates[event.value.state],
      })
  }
  if (changes.size === 0) return
  const rows = await updateInstances(queries, releaseId, changes)
  if (!events.some(({ event }) => event.case === 'resolved')) return
  const images = rows.flatMap(({ name, digest, preparations }) => [
    ...(digest === null ? [] : [{ name, digest }]),
    ...Object.entries(preparations).map(([prepared, found]) => ({ name: prepared, digest: found })),
  ])
  await rememberImages(queries, nodeId, images)
}

/** The event of the wire; data that only the server needs (a resolved digest) has none. */
function toRow({ event }: AgentEvent, failure: Failure | undefined): NewEvent | undefined {
  switch (event.case) {
    case 'log': {
      const { instanceId, lines, fromContainer, level, silences, stopped } = event.value
      return {
        type: 'log',
        instanceId: instanceId || null,
        value: {
          log: lines,
          level: logLevels[level],
          ...(fromContainer && { fromContainer }),
          ...(silences && { silences }),
          ...(stopped && { stopped }),
        },
      }
    }
    case 'phase': {
      const { instanceId, phase, state, detail } = event.value
      const named = phases[phase]
      if (!named) return undefined
      return {
        type: 'phase',
        instanceId,
        value: { instanceId, phase: named, state: phaseStates[state], ...(detail && { detail }) },
      }
    }
    case 'progress': {
      const { instanceId, status } = event.value
      const [current, total] = [Number(event.value.currentBytes), Number(event.value.totalBytes)]
      const share = total > 0 ? Math.min(1, current / total) : status === 'Pull complete' ? 1 : 0
      return {
        type: 'container-progress',
        instanceId,
        value: { instanceId, status, progress: share, currentBytes: current, totalBytes: total },
      }
    }
    case 'state': {
      const { instanceId, state, reason } = event.value
      return {
        type: 'container-state',
        instanceId,
        value: { instanceId, state: containerStates[state] ?? null, ...(reason && { reason }) },
      }
    }
    case 'outcome':
      return event.value.successful
        ? statusEvent('successful')
        : {
            ...statusEvent('failed', failure?.text, failure?.previousRestored),
            instanceId: event.value.instanceId || null,
          }
    default:
      return undefined
  }
}

/**
 * A cancelled release whose agent was unavailable is undone because its lease ended, but its reason names the user who
 * cancelled it.
 */
const getReason = (outcome: Outcome, release: ReleaseRow): string =>
  outcome.cancelled || (release.status === 'failed' && release.cancelRequestedBy)
    ? `cancelled by ${release.cancelRequestedBy ?? 'the agent'}`
    : outcome.reason || 'the agent gave no reason'

type Failure = { text: string; previousRestored?: boolean }

/** The cause of the failure, and what runs now. A release of the same deployment has the same version: its number identifies it. */
async function describeFailure(queries: Queries, release: ReleaseRow, outcome: Outcome): Promise<Failure> {
  const reason = getReason(outcome, release)
  const current = await findCurrentRelease(queries, release)
  if (!current) return { text: reason }
  const name = current.deploymentId === release.deploymentId ? `Release ${current.number}` : current.versionName
  const previousRestored = outcome.previousRestored
  return { text: `${reason}. ${name} ${previousRestored ? 'keeps answering' : 'does not answer'}.`, previousRestored }
}

const toTime = (event: AgentEvent): Date =>
  event.at ? new Date(Number(event.at.seconds) * 1_000 + event.at.nanos / 1e6) : new Date()

const logLevels: Record<LogLevel, 'info' | 'warn' | 'error'> = {
  [LogLevel.UNSPECIFIED]: 'info',
  [LogLevel.INFO]: 'info',
  [LogLevel.WARN]: 'warn',
  [LogLevel.ERROR]: 'error',
}
const phases: Record<Phase, DeploymentPhase | undefined> = {
  [Phase.UNSPECIFIED]: undefined,
  [Phase.RESOLVE]: 'resolve',
  [Phase.PULL]: 'pull',
  [Phase.CREATE]: 'create',
  [Phase.START]: 'start',
  [Phase.VERIFY]: 'verify',
  [Phase.SWAP]: 'swap',
  [Phase.CLEAN_UP]: 'clean-up',
}
const phaseStates: Record<PhaseState, WirePhaseState> = {
  [PhaseState.UNSPECIFIED]: 'waiting',
  [PhaseState.WAITING]: 'waiting',
  [PhaseState.RUNNING]: 'running',
  [PhaseState.DONE]: 'done',
  [PhaseState.SKIPPED]: 'skipped',
  [PhaseState.FAILED]: 'failed',
}
const containerStates: Record<ContainerState, WireContainerState | undefined> = {
  [ContainerState.UNSPECIFIED]: undefined,
  [ContainerState.RUNNING]: 'running',
  [ContainerState.WAITING]: 'waiting',
  [ContainerState.EXITED]: 'exited',
  [ContainerState.REMOVED]: 'removed',
}

import type { DeploymentEvent, DeploymentPhase, DeploymentStatus, PhaseState, ResponseOf } from '@crux/contract'

type Release = ResponseOf<'deployments.releases'>[number]

export type PhaseProgress = { state: PhaseState; startedAt?: number; endedAt?: number; detail?: string | null }
export type PullProgress = { current: number; total: number; status: string }
export type InstanceProgress = {
  phases: Partial<Record<DeploymentPhase, PhaseProgress>>
  pull?: PullProgress
  container?: { state: string | null; reason: string | null }
  /** The stop of the previous container, where both could not run at once. Its end is unknown with agents before the field. */
  stop?: { startedAt: number; endedAt?: number }
}
/** The state of one release, computed from its events; live and stored events give the same state. */
export type Progress = {
  try: number
  status: DeploymentStatus
  reason: string | null
  /** The instance that a failed release failed for; null where it was the release as a whole. */
  failedInstanceId: string | null
  /** Whether the previous containers run again after a failure; null = unknown, or there were none. */
  previousRestored: boolean | null
  startedAt: number | null
  endedAt: number | null
  instances: Readonly<Record<string, InstanceProgress>>
  /** By sequence, ascending, without duplicates. */
  events: readonly DeploymentEvent[]
}

export const noProgress: Progress = {
  try: 0,
  status: 'preparing',
  reason: null,
  failedInstanceId: null,
  previousRestored: null,
  startedAt: null,
  endedAt: null,
  instances: {},
  events: [],
}

/** Whether the release is still working: after a success it removes the replaced containers. */
export const isUnderWay = ({ status, instances }: Progress): boolean =>
  status === 'in-progress' ||
  (status === 'successful' && Object.values(instances).some(({ phases }) => phases['clean-up']?.state === 'running'))

/** A release whose log was removed: only how it ended is still known. */
export function toEnd(release: Pick<Release, 'number' | 'status' | 'reason' | 'startedAt' | 'finishedAt'>): Progress {
  const { number, status, reason = null, startedAt, finishedAt } = release
  const endedAt = finishedAt ? Date.parse(finishedAt) : null
  return { ...noProgress, try: number, status, reason, startedAt: Date.parse(startedAt), endedAt }
}

/**
 * Adds a list of events. Lists may overlap, repeat and overtake each other (a reconnect asks for everything again); events of an
 * older release than the shown one are left out, a newer release starts over.
 */
export function addEvents(progress: Progress, list: readonly DeploymentEvent[]): Progress {
  const latest = list.reduce((highest, event) => Math.max(highest, event.try), progress.try)
  const base = latest > progress.try ? { ...noProgress, try: latest } : progress
  const known = new Set(base.events.map((event) => event.sequence))
  const fresh = list
    .filter((event) => event.try === latest && !known.has(event.sequence))
    .sort((a, b) => a.sequence - b.sequence)
    .filter((event, index, all) => event.sequence !== all[index - 1]?.sequence)
  const first = fresh[0]
  if (!first) return base
  const last = base.events.at(-1)
  if (!last || first.sequence > last.sequence)
    return fresh.reduce(applyEvent, { ...base, events: [...base.events, ...fresh] })
  const events = [...base.events, ...fresh].sort((a, b) => a.sequence - b.sequence)
  return events.reduce(applyEvent, { ...noProgress, try: latest, events })
}

function applyEvent(progress: Progress, event: DeploymentEvent): Progress {
  const at = Date.parse(event.createdAt)
  const started = progress.startedAt === null ? { ...progress, startedAt: at } : progress
  switch (event.type) {
    case 'deployment-status': {
      const status = event.deploymentStatus ?? started.status
      // Becoming obsolete later is not how the release itself went.
      if (status === 'obsolete' || status === 'preparing') return started
      const reason = event.reason ?? null
      if (status === 'in-progress') return { ...started, status, reason, endedAt: null }
      const failedInstanceId = (status === 'failed' && event.instanceId) || null
      const previousRestored = event.previousRestored ?? null
      return { ...started, status, reason, failedInstanceId, previousRestored, endedAt: at }
    }
    case 'phase': {
      const { phase } = event
      return phase
        ? change(started, phase.instanceId, (instance) => ({
            ...instance,
            phases: withPhase(instance.phases, phase, at),
          }))
        : started
    }
    case 'container-progress': {
      const pull = event.containerProgress
      if (!pull) return started
      const total = pull.totalBytes ?? 0
      const current = pull.currentBytes ?? total * pull.progress
      return change(started, pull.instanceId, (instance) => ({
        ...instance,
        pull: { current, total, status: pull.status },
      }))
    }
    case 'container-state': {
      const state = event.containerState
      if (!state) return started
      return change(started, state.instanceId, (instance) => ({
        ...instance,
        container: { state: state.state ?? null, reason: state.reason ?? null },
      }))
    }
    case 'log': {
      const { log, instanceId } = event
      if (!instanceId || !(log?.silences || log?.stopped)) return started
      return change(started, instanceId, (instance) => ({
        ...instance,
        stop: log.silences ? { startedAt: at } : instance.stop && { ...instance.stop, endedAt: at },
      }))
    }
  }
}

function withPhase(
  phases: InstanceProgress['phases'],
  { phase, state, detail }: NonNullable<DeploymentEvent['phase']>,
  at: number,
): InstanceProgress['phases'] {
  const before = phases[phase]
  const startedAt = before?.startedAt ?? (state === 'waiting' ? undefined : at)
  const endedAt = state === 'done' || state === 'failed' || state === 'skipped' ? at : undefined
  return {
    ...phases, // The reason for waiting ends with the wait; only the phase's own last message stays.
    [phase]: { state, startedAt, endedAt, detail: detail || (state === 'running' ? before?.detail : null) },
  }
}

function change(progress: Progress, id: string, to: (instance: InstanceProgress) => InstanceProgress): Progress {
  return { ...progress, instances: { ...progress.instances, [id]: to(progress.instances[id] ?? { phases: {} }) } }
}

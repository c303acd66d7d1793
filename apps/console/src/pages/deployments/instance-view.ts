import { type DeploymentPhase, type DeploymentStatus, deploymentPhases } from '@crux/contract'
import type { StatusStyle } from '../../components/status-styles.ts'
import { statusStyle } from '../../components/status-styles.ts'
import type { InstanceProgress, PhaseProgress } from './progress.ts'

/** The six steps that the page shows; resolving a tag is part of the pull. */
export const shownPhases = ['pull', 'create', 'start', 'verify', 'swap', 'clean-up'] as const
/** The phases before a release is successful: the removal of replaced containers continues after it. */
export const phasesToSuccess = shownPhases.filter((phase) => phase !== 'clean-up')
/** A release that has to stop the previous container first shows that as a step too: its time is the downtime. */
export type ShownPhase = (typeof shownPhases)[number] | 'stop'
export type Step = PhaseProgress & { phase: ShownPhase /** 0 to 1, null = unknown. */; share: number | null }

export type InstanceWord =
  | 'waiting'
  | 'resolve'
  | ShownPhase
  | 'verified'
  | 'unchanged'
  | 'running'
  | 'exited'
  | 'failed'
  | 'undone'
  | 'untouched'

export type InstanceView = {
  word: InstanceWord
  appearance: StatusStyle
  steps: readonly Step[]
  /** The step that is running or failed, for the reason of waiting. */
  current: Step | null
  /** The phase in the API, where resolving a tag is a step of its own. */
  failedPhase: DeploymentPhase | undefined
}

/** The content of one row, from its phases and the status of the whole release. */
export function viewInstance(
  instance: InstanceProgress | undefined,
  release: DeploymentStatus,
  /** The release failed for this instance, though none of its steps did: before it began. */
  isCause = false,
): InstanceView {
  // A step that was running when the release ended was undone; only a successful release continues with its clean-up.
  const isTakenBack = (step: Step) =>
    step.state === 'running' && release !== 'in-progress' && !(release === 'successful' && step.phase === 'clean-up')
  const steps = shownPhases
    .flatMap((phase) => [...(phase === 'start' ? stopStep(instance) : []), getStep(phase, instance)])
    .map((step): Step => (isTakenBack(step) ? { ...step, state: 'waiting', startedAt: undefined } : step))
  const failed = steps.find((step) => step.state === 'failed') ?? null
  const busy = steps.find((step) => step.state === 'running') ?? null
  const word = isCause ? 'failed' : getStatusWord(instance, steps, failed, busy, release)
  return {
    word,
    appearance: statusStyle('phase', toInstanceState(word)),
    steps,
    current: failed ?? (release === 'in-progress' ? busy : null),
    failedPhase: findFailedPhase(instance),
  }
}

/** Verified images and all of them: "2 of 5 verified". An unchanged one counts as verified. */
export function countVerified(instances: readonly (InstanceProgress | undefined)[]): number {
  return instances.filter((instance) => {
    const verify = instance?.phases.verify
    return verify?.state === 'done' || verify?.state === 'skipped'
  }).length
}

/** How far a release is from its success, 0 to 1, each step of each image counting the same. */
export function getShare(instances: readonly (InstanceProgress | undefined)[]): number {
  if (instances.length === 0) return 0
  const done = instances
    .flatMap((instance) => phasesToSuccess.map((phase) => getStep(phase, instance)))
    .reduce((sum, step) => sum + (isOver(step) ? 1 : step.state === 'running' ? (step.share ?? 0.5) : 0), 0)
  return done / (instances.length * phasesToSuccess.length)
}

const findFailedPhase = (instance: InstanceProgress | undefined) =>
  deploymentPhases.find((phase) => instance?.phases[phase]?.state === 'failed')

/** Milliseconds from the stop of the previous container to the end of the new one's start; null where both ran at once. */
export function downtimeMs(instance: InstanceProgress | undefined): number | null {
  const from = instance?.stop?.startedAt
  const to = instance?.phases.start?.endedAt
  return from === undefined || to === undefined || to < from ? null : to - from
}

function stopStep(instance: InstanceProgress | undefined): Step[] {
  const stop = instance?.stop
  if (!stop) return []
  // Without its own end it ended at the latest when the new container was being started.
  const endedAt = stop.endedAt ?? instance.phases.start?.startedAt
  return [{ phase: 'stop', state: endedAt === undefined ? 'running' : 'done', ...stop, endedAt, share: null }]
}

const isOver = (step: PhaseProgress) => step.state === 'done' || step.state === 'skipped'

/** The step of the pull includes the resolution of its digest, except where machines pull after the container was created: those of a cluster. */
function getStep(phase: (typeof shownPhases)[number], instance: InstanceProgress | undefined): Step {
  const phases = instance?.phases ?? {}
  const own: PhaseProgress = phases[phase] ?? { state: 'waiting' }
  if (phase !== 'pull') return { ...own, phase, share: null }
  const { create, resolve } = phases
  if (resolve?.state === 'failed') return { ...resolve, phase, share: null }
  const isAfterCreation =
    create?.startedAt !== undefined && (own.startedAt ?? Number.POSITIVE_INFINITY) > create.startedAt
  if (own.state === 'waiting' && !isAfterCreation && resolve && resolve.state !== 'waiting')
    return { ...resolve, state: 'running', endedAt: undefined, phase, share: null }
  const pull = instance?.pull
  return {
    ...own,
    startedAt: isAfterCreation ? own.startedAt : (resolve?.startedAt ?? own.startedAt),
    phase,
    share: pull && pull.total > 0 ? Math.min(1, pull.current / pull.total) : null,
  }
}

function getStatusWord(
  instance: InstanceProgress | undefined,
  steps: readonly Step[],
  failed: Step | null,
  busy: Step | null,
  release: DeploymentStatus,
): InstanceWord {
  const phases = instance?.phases ?? {}
  if (failed) return 'failed'
  if (phases.start?.state === 'skipped' && phases.verify?.state !== 'running') return 'unchanged'
  if (release !== 'in-progress' && release !== 'successful')
    return phases.create && phases.create.state !== 'waiting' ? 'undone' : 'untouched'
  if (release === 'successful' || steps.every(isOver))
    return instance?.container?.state === 'exited' ? 'exited' : 'running'
  if (busy) return busy.phase === 'pull' && phases.pull?.state !== 'running' ? 'resolve' : busy.phase
  if (phases.verify?.state === 'done') return 'verified'
  return 'waiting'
}

function toInstanceState(word: InstanceWord): 'done' | 'running' | 'waiting' | 'failed' {
  if (word === 'failed') return 'failed'
  if (word === 'running' || word === 'exited' || word === 'verified' || word === 'unchanged') return 'done'
  return word === 'waiting' || word === 'undone' || word === 'untouched' ? 'waiting' : 'running'
}

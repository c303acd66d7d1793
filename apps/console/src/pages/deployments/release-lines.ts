import type { DeploymentEvent } from '@crux/contract'
import type { NewLine } from '../../components/log-viewer/log-buffer.ts'
import { duration } from '../../components/relative-time.ts'
import { bytesText } from './bytes.ts'

/** A line of the release's log; `instanceId` empty = of the release as a whole. */
export type ReleaseLine = NewLine & { instanceId: string; fromContainer: boolean }

/** Texts of the log, by what happened; `{{name}}` and the like are filled in by the caller's translation. */
export type Translate = (key: LineKey, values: LineValues) => string
type LineValues = { name?: string; size?: string; time?: string; detail?: string; reason?: string }
export type LineKey =
  | 'pulling'
  | 'pulled'
  | 'pulledUntimed'
  | 'pulledSized'
  | 'present'
  | 'created'
  | 'started'
  | 'verifying'
  | 'verified'
  | 'swapped'
  | 'state'
  | 'successful'
  | 'ended'
  | 'endedWith'

/**
 * The release's log: lines of agent and containers, and between them the steps as text, each with its time. All of it
 * comes from the events, so it reads the same live, after a reload and a year later.
 */
export function releaseLines(
  events: readonly DeploymentEvent[],
  getName: (id: string) => string,
  translate: Translate,
): ReleaseLine[] {
  const startedAt = new Map<string, number>()
  const bytes = new Map<string, number>()
  const reported: string[] = []
  const notify = (event: DeploymentEvent): ReleaseLine[] => {
    const at = Date.parse(event.createdAt)
    const line = (text: string, more: Partial<ReleaseLine> = {}): ReleaseLine => ({
      at,
      text,
      instanceId: event.instanceId ?? '',
      fromContainer: false,
      ...more,
    })
    switch (event.type) {
      case 'log':
        reported.push(...(event.log?.log ?? []))
        return (event.log?.log ?? []).map((text) =>
          line(text, { level: event.log?.level, fromContainer: event.log?.fromContainer === true }),
        )
      case 'container-progress': {
        const progress = event.containerProgress
        if (progress) bytes.set(progress.instanceId, progress.totalBytes ?? progress.currentBytes ?? 0)
        return []
      }
      case 'container-state': {
        const state = event.containerState
        return state?.reason && state.state === 'exited'
          ? [line(translate('state', { name: getName(state.instanceId), reason: state.reason }))]
          : []
      }
      case 'deployment-status': {
        if (event.deploymentStatus === 'successful') return [line(good(translate('successful', {})))]
        return event.deploymentStatus === 'failed'
          ? [line(failureText(event.reason ?? '', reported, translate), { level: 'error' })]
          : []
      }
      case 'phase': {
        const phase = event.phase
        if (!phase) return []
        const key = `${phase.instanceId} ${phase.phase}`
        if (phase.state === 'running' && !startedAt.has(key)) startedAt.set(key, at)
        const text = ofPhase(
          phase,
          {
            name: getName(phase.instanceId),
            time: duration(at - (startedAt.get(key) ?? at)),
            isTimed: startedAt.has(key),
            size: bytes.get(phase.instanceId),
          },
          translate,
        )
        // The agent reports a failure itself, with its cause.
        return text === null ? [] : [line(text)]
      }
    }
  }
  return events.flatMap(notify)
}

function ofPhase(
  { phase, state, detail }: NonNullable<DeploymentEvent['phase']>,
  { isTimed, name, size, time }: { name: string; time: string; isTimed: boolean; size: number | undefined },
  translate: Translate,
): string | null {
  if (phase === 'pull' && state === 'running') return translate('pulling', { name })
  if (phase === 'pull' && state === 'done' && !isTimed) return translate('pulledUntimed', { name })
  if (phase === 'pull' && state === 'done')
    return size ? translate('pulledSized', { name, size: bytesText(size), time }) : translate('pulled', { name, time })
  if (phase === 'pull' && state === 'skipped') return translate('present', { name, detail: detail ?? '' })
  if (phase === 'verify' && state === 'running') return detail ? translate('verifying', { name, detail }) : null
  if (state !== 'done') return null
  if (phase === 'create') return translate('created', { name })
  if (phase === 'start') return translate('started', { name, time })
  if (phase === 'verify') return good(translate('verified', { name, time }))
  // The agent reports what it cleans up by name.
  return phase === 'swap' ? translate('swapped', { name, time }) : null
}

/** The agent mostly logs the reason in a line of its own, which is not repeated. */
const failureText = (reason: string, reported: readonly string[], translate: Translate): string =>
  reason === '' || reported.some((text) => text !== '' && reason.startsWith(text))
    ? translate('ended', {})
    : translate('endedWith', { reason })

/** In green, as in a terminal; a download and a copy have only the text. */
const good = (text: string): string => `\u001b[32m${text}\u001b[0m`

import type { DeploymentPhase } from '@crux/contract'
import { splitReason } from './split-reason.ts'

/** What the user has to change for the next attempt, if the failure says so. */
export type FailureCause =
  | { kind: 'port'; port: number }
  /** The registry has no such image or tag. */
  | { kind: 'tag' }
  /** The container ran, but did not keep its expected state: its last log lines say why. */
  | { kind: 'container' }
  | { kind: 'other' }

/**
 * Derives the cause of a failed release.
 *
 * @param phase the step that failed; undefined when the release failed before any step of the instance
 * @param reason the agent's sentence
 */
export function failureCause(phase: DeploymentPhase | undefined, reason: string): FailureCause {
  // An engine's own words may name many things that are not the cause: "certificate signed by unknown authority".
  const { text } = splitReason(reason)
  const port = /\bport (\d{1,5}) is (?:taken|wanted|used|held)\b/i.exec(text)?.[1]
  if (port) return { kind: 'port', port: Number(port) }
  if (phase === 'resolve' || phase === 'pull')
    return /not found|unknown|no such|does not exist|has no/i.test(text) ? { kind: 'tag' } : { kind: 'other' }
  return phase === 'start' || phase === 'verify' ? { kind: 'container' } : { kind: 'other' }
}

/**
 * The agent's sentence as one of its own: it begins with a capital, unless with the name of a container or the like.
 */
export function toSentence(reason: string, names: readonly string[]): string {
  const first = /^[^\s,:;]+/.exec(reason)?.[0] ?? ''
  // A word that is followed by a colon is a host or a source: `localhost:5000/app: not found`.
  const isName =
    !/^[a-z]+$/.test(first) ||
    reason[first.length] === ':' ||
    names.some((name) => name === first || name.startsWith(`${first}/`))
  return isName ? reason : reason.charAt(0).toUpperCase() + reason.slice(1)
}

type Candidate = { number: number; status: string; current: boolean }

/**
 * The release to go back to after a failure: none while the previous containers answer, since nothing has to be rolled back then.
 */
export function rollBackTarget<R extends Candidate>(
  releases: readonly R[],
  failure: { number: number; previousRestored: boolean | null; isRunning: boolean },
): R | undefined {
  if (!failure.isRunning)
    return releases.find((release) => release.status === 'successful' && release.number < failure.number)
  // The previous release was not restored, so it is started again, not an older one.
  return failure.previousRestored === false ? releases.find((release) => release.current) : undefined
}

import { CruxError, type EndpointSpec, limits } from '@crux/contract'
import type { Actor, TeamContext } from './actor.ts'

/** Whether the team requires a second factor of its members and this session or token was created without one. */
export const lacksSecondFactor = (actor: Actor, team: Pick<TeamContext, 'secondFactorRequired'>): boolean =>
  team.secondFactorRequired && actor.kind === 'user' && actor.aal !== 'aal2'

/** Why a session cannot be used yet, in general or in this team: a password or a second factor is missing. */
export function pendingRequirement(actor: Actor, team?: TeamContext): CruxError | undefined {
  if (actor.kind === 'user' && actor.recovered)
    return new CruxError('forbidden', { property: 'recovered', description: 'Set a new password first.' })
  if (!team || !lacksSecondFactor(actor, team)) return undefined
  return new CruxError('forbidden', {
    property: 'secondFactor',
    description: 'This team requires a second factor. Set one up, then sign in with it.',
  })
}

/** Why this caller may not use the endpoint with the current session; signing in again may change that. */
export function sessionRefusal(endpoint: EndpointSpec, actor: Actor, team?: TeamContext): CruxError | undefined {
  const refusal = endpoint.pendingSession ? undefined : pendingRequirement(actor, team)
  return refusal ?? (endpoint.recentSignIn && !hasRecentSignIn(actor) ? signInTooOld() : undefined)
}

const hasRecentSignIn = (actor: Actor): boolean =>
  actor.kind === 'user' && !actor.grant && actor.authenticatedAt.getTime() + limits.recentSignInMs > Date.now()

const signInTooOld = () =>
  new CruxError('forbidden', {
    property: 'session',
    description: 'Your sign-in is too old for this. Sign in again, then retry.',
  })

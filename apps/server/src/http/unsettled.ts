import { CruxError } from '@crux/contract'
import { lacksSecondFactor, secondFactorMissing } from '../teams/second-factor.ts'
import type { Actor, TeamContext } from './handlers.ts'

/** Why a session is good for nothing yet, in general or in this team: a password or a second factor is still to come. */
export function unsettled(actor: Actor, team?: TeamContext): CruxError | undefined {
  if (actor.kind === 'user' && actor.recovered)
    return new CruxError('forbidden', { property: 'recovered', description: 'Set a new password first.' })
  return team && lacksSecondFactor(actor, team) ? secondFactorMissing() : undefined
}

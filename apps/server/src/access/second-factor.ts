import { CruxError } from '@crux/contract'
import type { Actor, TeamContext } from './actor.ts'

/** Whether the team requires a second factor of its members and this session or token was created without one. */
export const lacksSecondFactor = (actor: Actor, team: Pick<TeamContext, 'secondFactorRequired'>): boolean =>
  team.secondFactorRequired && actor.kind === 'user' && actor.aal !== 'aal2'

export const secondFactorMissing = (): CruxError =>
  new CruxError('forbidden', {
    property: 'secondFactor',
    description: 'This team requires a second factor. Set one up, then sign in with it.',
  })

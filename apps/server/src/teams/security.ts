import { type Body, CruxError } from '@crux/contract'
import type { Actor, Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import { securityChanged } from './events.ts'
import { updateSecurityRow } from './store.ts'

/**
 * @param caller.actor as the identity service currently describes them
 * @throws CruxError preconditionFailed when the owner themselves would be locked out
 */
export async function updateSecurity(
  app: App,
  { team, actor }: Caller<Actor & { kind: 'user' }>,
  body: Body<'teams.update-security'>,
): Promise<void> {
  if (body.secondFactorRequired && !team.secondFactorRequired && actor.aal !== 'aal2')
    throw new CruxError('preconditionFailed', {
      property: 'secondFactorRequired',
      description: 'Set up a second factor of your own and sign in with it first: this would lock you out.',
    })
  const security = {
    secondFactorRequired: body.secondFactorRequired,
    allowedDomains: [...new Set(body.allowedDomains)].sort(),
  }
  await updateSecurityRow(app.database.pool, team.id, security, actor.id)
  securityChanged(app, team, actor, security)
}

/** @throws CruxError preconditionFailed for an address of another domain, or an unverified one */
export function refuseOtherDomains(
  domains: readonly string[],
  { email, verified }: { email: string; verified: boolean },
) {
  if (domains.length === 0) return
  const fits = domains.includes(email.slice(email.lastIndexOf('@') + 1).toLowerCase())
  if (fits && verified) return
  throw new CruxError('preconditionFailed', {
    property: 'email',
    value: email,
    description: fits
      ? 'Verify your e-mail address first: this team takes people of certain domains only.'
      : `This team takes addresses of ${new Intl.ListFormat('en', { type: 'disjunction' }).format(domains)} only.`,
  })
}

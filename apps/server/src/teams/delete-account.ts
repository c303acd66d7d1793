import { type Body, CruxError } from '@crux/contract'
import { recordAudit } from '../audit-log/index.ts'
import type { App } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import type { SessionActor } from '../identity/index.ts'
import { deleteTokens, tokensRevoked } from '../tokens/index.ts'
import { memberLeft } from './events.ts'
import { deleteUser, lockTeamsOf, selectSolelyOwned } from './member-store.ts'

/**
 * Deletes the account with everything that is only the user's own: memberships, invitations, API tokens, settings,
 * sessions. Their changes stay in the teams, and their name in the audit logs. It may be repeated after a failure.
 *
 * @throws CruxError invalidArgument `email`, preconditionFailed `teams` for the only owner of a team,
 *   serviceUnavailable
 */
export async function deleteAccount(app: App, actor: SessionActor, body: Body<'users.delete-me'>): Promise<void> {
  if (body.email.trim().toLowerCase() !== actor.email.toLowerCase())
    throw new CruxError('invalidArgument', {
      property: 'email',
      description: 'This is not the e-mail address of your account.',
    })
  const { teams, tokens } = await inTransaction(app.database, async (queries) => {
    const left = await lockTeamsOf(queries, actor.id)
    refuseSoleOwner(await selectSolelyOwned(queries, actor.id))
    await deleteUser(queries, actor.id)
    const revoked = await deleteTokens(queries, { kind: 'user', id: actor.id })
    // This comes last, so that nothing is lost here when the identity service does not answer.
    await app.accounts.delete(actor.id)
    return { teams: left, tokens: revoked }
  })
  app.log.info({ userId: actor.id }, 'account deleted')
  tokensRevoked(app, tokens)
  app.bus.publish({ type: 'session.ended', sessionId: actor.sessionId })
  for (const team of teams) {
    memberLeft(app, team, actor)
    await recordAudit(app, {
      teamId: team.id,
      actor,
      context: 'http',
      method: 'delete',
      event: 'team-member users.delete-me',
      accepted: true,
    })
  }
}

function refuseSoleOwner(names: string[]): void {
  if (names.length === 0) return
  throw new CruxError('preconditionFailed', {
    property: 'teams',
    value: names.join(', '),
    description: `You are the only owner of ${new Intl.ListFormat('en').format(names)}. Make another member an owner, or delete the team, then try again.`,
  })
}

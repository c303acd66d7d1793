import { isLoopbackOnly } from '../config/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { hasOtherInvitation } from './invitation-store.ts'

type MailConfig = Parameters<typeof isLoopbackOnly>[0]

/**
 * How invitations are delivered. The link opens an account with the invited address, so that an inviter who sees it can
 * act as that user. Therefore only an installation on loopback shows it, where every typed address counts as verified
 * anyway.
 */
export const invitationDelivery = (config: MailConfig): 'mail' | 'link' | 'none' =>
  config.smtpUri ? 'mail' : config.mails && isLoopbackOnly(config) ? 'link' : 'none'

/**
 * The link to pass on, or null where mail is sent. It has the invitation's secret only for an account that was never
 * used and that no other team has invited. All others sign in with their own credentials, so that the link opens no
 * existing account.
 */
export async function invitationLink(
  app: App,
  queries: Queries,
  { teamId, userId, secret }: { teamId: string; userId: string; secret: string },
): Promise<string | null> {
  if (invitationDelivery(app.config) !== 'link') return null
  if ((await hasOtherInvitation(queries, { teamId, userId })) || (await app.accounts.hasSignedIn(userId)))
    return new URL(`/teams/${teamId}/invitation`, app.config.url).href
  const link = new URL('/auth/create-account', app.config.url)
  link.searchParams.set('team', teamId)
  link.searchParams.set('invitation', secret)
  return link.href
}

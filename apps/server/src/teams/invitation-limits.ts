import { createHmac, hkdfSync } from 'node:crypto'
import { CruxError } from '@crux/contract'
import { createAttempts } from '@crux/postgres'
import type { App } from '../context.ts'

const windowSeconds = 3_600
/** The limits per hour: mails that one user sends, mails to one address from all senders, and new codes for one link. */
const hitsMax = { inviter: 100, recipient: 10, link: 20 } as const

/**
 * Limits invitations, because they send mail to addresses that the inviter chooses: they must neither flood a mailbox
 * nor create thousands of accounts.
 *
 * @throws CruxError tooManyRequests with the seconds to wait
 */
export async function countInvitation(
  app: Pick<App, 'config' | 'database'>,
  what: keyof typeof hitsMax,
  caller: string,
): Promise<void> {
  if (!app.config.rateLimits) return
  const key = Buffer.from(hkdfSync('sha256', app.config.encryption.key, '', 'crux invitation limits', 32))
  const hash = createHmac('sha256', key).update(`${what} ${caller.toLowerCase()}`).digest('base64url')
  const attempts = createAttempts(app.database.pool, 'crux.rate_limit')
  const { hits, waitSeconds } = await attempts.count(hash, windowSeconds)
  if (hits <= hitsMax[what]) return
  throw new CruxError('tooManyRequests', {
    ...(what === 'recipient' && { property: 'email' }),
    retryAfterS: waitSeconds,
    description:
      what === 'recipient'
        ? 'This address was sent many invitations already. Try again in an hour.'
        : 'Too many invitations at once. Try again in an hour.',
  })
}

import { createHmac, hkdfSync } from 'node:crypto'
import { CruxError } from '@crux/contract'
import { createAttempts } from '@crux/postgres'
import type { App } from '../context.ts'

const windowSeconds = 3_600
/** In an hour: mails that one person sends, that one address gets whoever sends them, and fresh codes for one link. */
const hitsMax = { inviter: 100, recipient: 10, link: 20 } as const

/**
 * Invitations send mail to whom the inviter names: neither is this a way to flood a mailbox, nor to make accounts by the thousand.
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

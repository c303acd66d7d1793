import { timingSafeEqual } from 'node:crypto'
import { CruxError } from '@crux/contract'
import { listCapturedMails } from '@crux/service-kit/mail'
import { isLoopbackOnly } from '../config/index.ts'
import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'

const triesMax = 10
const triesMs = 10 * 60_000

/**
 * Mails that were captured because no mail server is set, for the operator of this installation: only while nothing but
 * this machine can connect, and only with the token that was printed at the start. Otherwise the address does not
 * exist.
 */
export function mailRoutes(app: App): Handlers<'mails.list'> {
  const failures: number[] = []

  function refuseTooMany(now: number) {
    while (failures[0] !== undefined && now - failures[0] > triesMs) failures.shift()
    const first = failures[0]
    // All requests come from this machine, so that one counter is enough.
    if (failures.length >= triesMax && first !== undefined)
      throw new CruxError('tooManyRequests', { property: 'token', retryAfterS: (first + triesMs - now) / 1_000 })
  }

  return {
    'mails.list': async ({ body }) => {
      const { mails } = app.config
      if (!mails?.token || app.config.smtpUri || !app.config.embedded || !isLoopbackOnly(app.config))
        throw new CruxError('notFound')
      const now = Date.now()
      refuseTooMany(now)
      if (!isSame(body.token, mails.token)) {
        failures.push(now)
        throw new CruxError('forbidden', { property: 'token', description: 'This is not the token of this start.' })
      }
      return listCapturedMails(mails.directory)
    },
  }
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}

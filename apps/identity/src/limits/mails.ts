import { clientNetwork } from '@crux/service-kit'
import type { App } from '../app/app.ts'
import { type DeviceReader, isKnownDevice } from './known-devices.ts'

type CodeRequester = DeviceReader & { clientAddress: string }

/**
 * Counts a requested code before it is mailed. As with guesses, requests of attackers must not keep the owner of an address from a code, so the
 * waiting time between two codes is counted per address and network, and browsers in which the owner has signed in have one of their own. All other
 * requests for an address share a limit, so that many networks cannot flood a mailbox; known devices are exempt from it. A code stays valid when
 * other flows request codes.
 *
 * @param what.subject the purpose and the address as it was typed; it need not exist
 * @param what.identityId of the owner, if there is one; used only for browsers with a device cookie
 * @throws IdentityError 429 with Retry-After
 */
export async function countMail(
  app: Pick<App, 'limiter' | 'keys'>,
  ctx: CodeRequester,
  what: { subject: string; identityId: () => Promise<string | undefined> | string | undefined },
): Promise<void> {
  const { subject, identityId } = what
  const { limiter } = app
  const isKnown = await isKnownDevice(app.keys, ctx, identityId)
  await limiter.take('client', ctx.clientAddress)
  await limiter.take('resend', isKnown ? known(subject) : from(ctx, subject))
  if (!isKnown) await limiter.take('mails', subject)
}

/** Counts a code that was mailed without a request: the next one has to wait, whether or not this browser is known by then. */
export async function recordMail(app: Pick<App, 'limiter'>, ctx: CodeRequester, subject: string): Promise<void> {
  await app.limiter.note('resend', from(ctx, subject))
  await app.limiter.note('resend', known(subject))
}

const known = (subject: string) => `${subject} known`
const from = ({ clientAddress }: CodeRequester, subject: string) => `${subject} from ${clientNetwork(clientAddress)}`

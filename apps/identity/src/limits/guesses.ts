import type { App } from '../context.ts'
import { type DeviceReader, isKnownDevice } from './known-devices.ts'

/** What is guessed. Six digits are few, so codes have a bound for the day as well. */
export type GuessKind = 'password' | 'code'

export interface Guess {
  /** Takes the guess back and forgets the wrong ones of this network or of the known devices. */
  right(): Promise<void>
}

/**
 * Counts a guess before it is judged. Wrong guesses from one network must not keep the owner out elsewhere: they are counted per account
 * and network, and the bound of the account alone is higher. Browsers in which the owner has signed in before share a bound of their
 * own and pass the others, so that nobody can lock them out.
 *
 * @param what.subject the account as it was typed; it need not exist
 * @param what.identityId of the account, if there is one; asked for only where a browser has a device cookie
 * @throws IdentityError 429 with Retry-After
 */
export async function countGuess(
  app: Pick<App, 'limiter' | 'keys'>,
  ctx: DeviceReader & { clientAddress: string },
  what: { kind: GuessKind; subject: string; identityId: () => Promise<string | undefined> | string | undefined },
): Promise<Guess> {
  const { kind, subject } = what
  const { limiter } = app
  const isKnown = await isKnownDevice(app.keys, ctx, what.identityId)
  const [own, shared] = isKnown
    ? [`${subject} known`, `${subject} known`]
    : [`${subject} from ${limiter.networkOf(ctx.clientAddress)}`, subject]
  const bound = kind === 'code' ? 'codes' : 'accountTotal'
  await limiter.take('client', ctx.clientAddress)
  await limiter.take('account', own)
  // A known device has no second bound for passwords: its first one is that of all known devices together.
  const isShared = kind === 'code' || !isKnown
  if (isShared) await limiter.take(bound, shared)
  return {
    async right() {
      await limiter.refund('client', ctx.clientAddress)
      await limiter.reset('account', own)
      // Not reset: the owner's own sign-ins must not give strangers further guesses.
      if (isShared) await limiter.refund(bound, shared)
    },
  }
}

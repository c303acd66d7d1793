import { clientNetwork } from '@crux/service-kit'
import type { App } from '../app/app.ts'
import { type DeviceReader, isKnownDevice } from './known-devices.ts'

/** The kinds of guessed secrets. A six-digit code has few values, so codes have a daily limit too. */
export type GuessKind = 'password' | 'code'

type Guesser = DeviceReader & { clientAddress: string }

export interface Guess {
  /** Refunds the guess and resets the wrong ones of this network or of the known devices. */
  right(): Promise<void>
}

/**
 * Counts a guess before it is checked. Wrong guesses from one network must not lock the owner out elsewhere, so they are counted per account and
 * network, and the limit per account is higher. Browsers in which the owner has signed in before share a limit of their own and are exempt from the
 * others, so that an attacker cannot lock them out.
 *
 * @param what.subject the account as it was typed; it need not exist
 * @param what.identityId of the account, if there is one; used only for browsers with a device cookie
 * @throws IdentityError 429 with Retry-After
 */
export async function countGuess(
  app: Pick<App, 'limiter' | 'keys'>,
  ctx: Guesser,
  what: { kind: GuessKind; subject: string; identityId: () => Promise<string | undefined> | string | undefined },
): Promise<Guess> {
  const { kind, subject } = what
  const { limiter } = app
  const isKnown = await isKnownDevice(app.keys, ctx, what.identityId)
  const [own, shared] = isKnown
    ? [`${subject} known`, `${subject} known`]
    : [`${subject} from ${clientNetwork(ctx.clientAddress)}`, subject]
  const bound = kind === 'code' ? 'codes' : 'accountTotal'
  await limiter.take('client', ctx.clientAddress)
  await limiter.take('account', own)
  // Known devices have no second limit for passwords, because they share one limit already.
  const isShared = kind === 'code' || !isKnown
  if (isShared) await limiter.take(bound, shared)
  return {
    async right() {
      await limiter.refund('client', ctx.clientAddress)
      await limiter.reset('account', own)
      // This is a refund and not a reset, because sign-ins of the owner must not give an attacker further guesses.
      if (isShared) await limiter.refund(bound, shared)
    },
  }
}

/** Counts a guess at a second factor; all second factors of a user share the limit. */
export function guessSecondFactor(app: App, ctx: Guesser, identityId: string): Promise<Guess> {
  return countGuess(app, ctx, { kind: 'code', subject: `second factor ${identityId}`, identityId: () => identityId })
}

import type { App } from '../app/app.ts'
import { type LoginOutcome, refusedWith } from '../flows/sign-in-method.ts'
import { identityDisabled } from '../http/errors.ts'
import { findUser } from '../identities/store.ts'
import { messages } from '../ui/messages.ts'

/**
 * Applies the sign-in rules of passwords to a user who has authenticated: the account must be active, and its address verified where mail can be
 * sent.
 *
 * @throws IdentityError 401 for a disabled identity
 */
export async function admit(app: App, identityId: string, method: string): Promise<LoginOutcome> {
  const user = await findUser(app.database.db, identityId)
  if (user?.state !== 'active') throw identityDisabled()
  if (app.verifiesAddresses && !user.verifiable.every(({ verified }) => verified))
    return { ...refusedWith(messages.addressNotVerified()), active: method }
  return { kind: 'proven', identityId, method }
}

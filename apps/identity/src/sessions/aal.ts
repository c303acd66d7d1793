import type { App } from '../app/app.ts'
import { aal2Required } from '../http/errors.ts'
import type { Signed } from './credentials.ts'

/** Whether the user has a second factor that this session has not proven. */
export function lacksSecondFactor({ session, secondFactor }: Pick<Signed, 'session' | 'secondFactor'>): boolean {
  return secondFactor && session.aal !== 'aal2'
}

/** The address at which a browser proves the second factor. */
export function secondFactorUrl(app: App, returnTo?: string): string {
  const query = new URLSearchParams({ aal: 'aal2', ...(returnTo === undefined ? {} : { return_to: returnTo }) })
  return `${app.publicUrl}/self-service/login/browser?${query}`
}

/**
 * Refuses a session without the second factor of a user who has one.
 *
 * @throws IdentityError 403 `session_aal2_required`, with the address to go to
 */
export function requireHighestAal(app: App, session: Signed, returnTo?: string): void {
  if (lacksSecondFactor(session)) throw aal2Required(secondFactorUrl(app, returnTo))
}

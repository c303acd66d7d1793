import type { RegistryType } from '@crux/contract'
import type { App } from '../context.ts'
import { googleTokenUser, mintGoogleToken } from './api/google-token.ts'

export type PullCredentials = { user: string; token: string }

/**
 * The credentials that an agent gets for one release. The key of a Google service account never leaves the server: the agent gets an access
 * token made from it, which can only read and ends after an hour.
 *
 * @throws CruxError registryUnauthorized or invalidArgument `token` when Google issues no token
 */
export async function toPullCredentials(
  app: Pick<App, 'outbound' | 'config'>,
  stored: PullCredentials & { type: RegistryType },
): Promise<PullCredentials> {
  if (stored.type !== 'google') return { user: stored.user, token: stored.token }
  const { token } = await mintGoogleToken(app.outbound, app.config.googleTokenUrl, stored)
  return { user: googleTokenUser, token }
}

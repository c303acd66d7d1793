import type { RegistryType } from '@crux/contract'
import type { App } from '../context.ts'
import { googleTokenUser, mintGoogleToken, toGoogleKeyFile } from './api/google-token.ts'

export type PullCredentials = { user: string; token: string }

/** The user name under which the registries of Google accept the key file of a service account as password. */
const googleKeyUser = '_json_key'

/**
 * The credentials that an agent gets for one release. For Google, an agent of Docker gets an access token made from the key of the service
 * account, which can only read and ends after an hour. On a cluster the credentials must last as long as the containers, because a pod that
 * moves to another machine is pulled again, and they must be the same in each release, because others would replace all containers: there the
 * agent gets the key.
 *
 * @throws CruxError invalidArgument `token` for a text that is no private key, registryUnauthorized when Google issues no token
 */
export async function toPullCredentials(
  app: Pick<App, 'outbound' | 'config'>,
  stored: PullCredentials & { type: RegistryType },
  nodeType: 'docker' | 'k8s',
): Promise<PullCredentials> {
  if (stored.type !== 'google') return { user: stored.user, token: stored.token }
  if (nodeType === 'k8s') return { user: googleKeyUser, token: toGoogleKeyFile(stored, app.config.googleTokenUrl) }
  const { token } = await mintGoogleToken(app.outbound, app.config.googleTokenUrl, stored)
  return { user: googleTokenUser, token }
}

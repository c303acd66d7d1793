import {
  allowInsecureRequests,
  authorizationCodeGrant,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  customFetch,
  fetchProtectedResource,
} from 'openid-client'
import { z } from 'zod'
import type { Provider } from '../../app/services.ts'
import type { ProviderSettings } from '../../config/oidc-providers.ts'
import { createAuthorizationRequest } from './openid-connect.ts'
import { ProviderError, splitName } from './provider.ts'

const User = z.object({ id: z.number().int(), name: z.string().nullish() })
const Emails = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }))

/**
 * GitHub supports OAuth 2 without OpenID Connect, so the data of a user comes from its API.
 * https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
 */
export function createGitHubProvider(settings: ProviderSettings, fetch: CustomFetch): Provider {
  const api = settings.url === 'https://github.com' ? 'https://api.github.com' : `${settings.url}/api/v3`
  const client = new Configuration(
    {
      issuer: `${settings.url}/login/oauth`,
      authorization_endpoint: `${settings.url}/login/oauth/authorize`,
      token_endpoint: `${settings.url}/login/oauth/access_token`,
    },
    settings.clientId,
    settings.clientSecret,
    ClientSecretPost(settings.clientSecret),
  )
  client[customFetch] = fetch
  // The settings accept http only for addresses of this machine.
  if (settings.url.startsWith('http:')) allowInsecureRequests(client)

  async function ask<T extends z.ZodType>(path: string, accessToken: string, schema: T): Promise<z.output<T>> {
    const headers = new Headers({ accept: 'application/vnd.github+json', 'user-agent': 'crux' })
    const response = await fetchProtectedResource(client, accessToken, new URL(api + path), 'GET', null, headers)
    if (!response.ok) throw new Error(`${path} answered ${response.status}`)
    return schema.parse(await response.json())
  }

  return {
    id: settings.id,
    label: settings.label,
    start: (options) => createAuthorizationRequest(client, settings, { ...options, nonce: '' }),
    async complete({ url, state, verifier }) {
      try {
        const tokens = await authorizationCodeGrant(client, url, { expectedState: state, pkceCodeVerifier: verifier })
        const [user, emails] = await Promise.all([
          ask('/user', tokens.access_token, User),
          ask('/user/emails', tokens.access_token, Emails),
        ])
        const email = emails.find(({ primary }) => primary) ?? emails[0]
        return {
          subject: String(user.id),
          email: email?.email,
          emailVerified: settings.verifiesEmail && email?.verified === true,
          ...splitName(user.name ?? undefined),
        }
      } catch (cause) {
        throw new ProviderError(`${settings.label} did not confirm the sign-in.`, { cause })
      }
    },
  }
}

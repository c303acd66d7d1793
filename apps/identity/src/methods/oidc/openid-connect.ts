import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
} from 'openid-client'
import { z } from 'zod'
import type { AuthorizationRequest, Claims, Provider } from '../../app/services.ts'
import type { ProviderSettings } from '../../config/oidc-providers.ts'
import { ProviderError, splitName } from './provider.ts'

const rediscoverMs = 3600_000

const text = z.string().min(1).max(255).optional().catch(undefined)
const Profile = z.object({
  sub: z.string().min(1).max(255),
  email: text,
  // Some providers send the boolean as a string.
  email_verified: z.union([z.boolean(), z.stringbool()]).optional().catch(undefined),
  given_name: text,
  family_name: text,
  name: text,
})

/** Creates the address of a provider: code flow with PKCE. An empty nonce is omitted, because OAuth 2 alone has none. */
export async function createAuthorizationRequest(
  client: Configuration,
  { scope }: ProviderSettings,
  { redirectUri, state, nonce }: { redirectUri: string; state: string; nonce: string },
): Promise<AuthorizationRequest> {
  const verifier = randomPKCECodeVerifier()
  const url = buildAuthorizationUrl(client, {
    redirect_uri: redirectUri,
    scope,
    state,
    ...(nonce === '' ? {} : { nonce }),
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  })
  return { url: url.href, verifier, nonce }
}

/** A provider with an issuer. All addresses come from its discovery document. */
export function createOpenIdProvider(settings: ProviderSettings, fetch: CustomFetch): Provider {
  let known: { configuration: Promise<Configuration>; at: number } | undefined

  /** The configuration is fetched when it is first needed, and again after an hour or a failure. */
  async function configuration(): Promise<Configuration> {
    if (!known || Date.now() - known.at > rediscoverMs) {
      const asked = discovery(new URL(settings.url), settings.clientId, settings.clientSecret, undefined, {
        [customFetch]: fetch,
        // The settings accept http only for addresses of this machine.
        execute: settings.url.startsWith('http:') ? [allowInsecureRequests] : [],
      })
      known = { configuration: asked, at: Date.now() }
    }
    const current = known
    try {
      return await current.configuration
    } catch (cause) {
      if (known === current) known = undefined
      throw new ProviderError(`${settings.label} cannot be reached right now.`, { cause })
    }
  }

  return {
    id: settings.id,
    label: settings.label,
    async start(options) {
      return createAuthorizationRequest(await configuration(), settings, { ...options, nonce: randomNonce() })
    },
    async complete({ url, state, verifier, nonce }) {
      const client = await configuration()
      try {
        const tokens = await authorizationCodeGrant(client, url, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        })
        const idToken = Profile.parse(tokens.claims())
        if (idToken.email !== undefined || !client.serverMetadata().userinfo_endpoint) return toClaims(idToken)
        const userInfo = await fetchUserInfo(client, tokens.access_token, idToken.sub)
        return toClaims(Profile.parse({ ...userInfo, sub: idToken.sub }))
      } catch (cause) {
        throw new ProviderError(`${settings.label} did not confirm the sign-in.`, { cause })
      }
    },
  }

  function toClaims(profile: z.output<typeof Profile>): Claims {
    const { given_name: firstName, family_name: lastName } = profile
    return {
      subject: profile.sub,
      email: profile.email,
      emailVerified: settings.verifiesEmail && profile.email_verified === true,
      ...(firstName === undefined && lastName === undefined ? splitName(profile.name) : { firstName, lastName }),
    }
  }
}

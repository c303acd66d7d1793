import { createOutbound, isLoopbackUrl, type Logger, type Outbound } from '@crux/service-kit'
import type { CustomFetch } from 'openid-client'
import type { Providers } from '../../app/services.ts'
import type { IdentityConfig } from '../../config/config.ts'
import { readProviders } from '../../config/oidc-providers.ts'

/** The provider libraries are loaded only if providers are configured. */
export async function createProviders(config: IdentityConfig, log: Logger): Promise<Providers> {
  const settings = readProviders(config)
  if (settings.length === 0) return new Map()
  const { createGitHubProvider } = await import('./github.ts')
  const { createOpenIdProvider } = await import('./openid-connect.ts')
  // Administrators configure the issuers, but their answers contain further, untrusted addresses.
  const refusedPorts = [config.IDENTITY_PUBLIC_PORT, config.IDENTITY_ADMIN_PORT]
  const allow = config.OUTBOUND_ALLOW ?? (isLoopbackUrl(config.CRUX_URL) ? ['private'] : [])
  const outbound = createOutbound({ allow: allow.includes('private') ? 'private' : allow, refusedPorts, log })
  const fetch = outboundFetch(outbound)
  const create = { oidc: createOpenIdProvider, github: createGitHubProvider }
  return new Map(settings.map((provider) => [provider.id, create[provider.kind](provider, fetch)]))
}

/** Adapts the outbound client to the interface of fetch: addresses in the documents of a provider are untrusted and need the same checks. */
function outboundFetch(outbound: Outbound): CustomFetch {
  return async (url, { method, headers, body }) => {
    const answer = await outbound.request(url, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      ...(body === null || body === undefined ? {} : { body: String(body) }),
      timeoutMs: 15_000,
      maxBytes: 1024 * 1024,
    })
    const kept = new Headers()
    for (const [name, value] of Object.entries(answer.headers))
      if (value !== undefined) kept.set(name, Array.isArray(value) ? value.join(', ') : value)
    const empty = answer.status === 204 || answer.status === 304
    return new Response(empty ? null : new Uint8Array(answer.body), { status: answer.status, headers: kept })
  }
}

import { createOutbound, isLoopbackUrl, type Logger } from '@crux/service-kit'
import type { Providers } from '../../app/services.ts'
import type { IdentityConfig } from '../../config/config.ts'
import { readProviders } from '../../config/oidc-providers.ts'
import { outboundFetch } from './fetch.ts'

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

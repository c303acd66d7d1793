import { createOutbound, isLoopbackUrl, type Logger } from '@crux/service-kit'
import type { IdentityConfig } from '../../config.ts'
import { outboundFetch } from './fetch.ts'
import { createGitHubProvider } from './github.ts'
import { createOpenIdProvider } from './openid-connect.ts'
import type { Provider } from './provider.ts'
import { readProviders } from './settings.ts'

/** The providers that are set up, by id, in the order of the form. */
export type Providers = ReadonlyMap<string, Provider>

export function createProviders(config: IdentityConfig, log: Logger): Providers {
  // Administrators name the issuers, but what these answer with names further addresses.
  const refusedPorts = [config.IDENTITY_PUBLIC_PORT, config.IDENTITY_ADMIN_PORT]
  const allow = config.OUTBOUND_ALLOW ?? (isLoopbackUrl(config.CRUX_URL) ? ['private'] : [])
  const outbound = createOutbound({ allow: allow.includes('private') ? 'private' : allow, refusedPorts, log })
  const fetch = outboundFetch(outbound)
  const create = { oidc: createOpenIdProvider, github: createGitHubProvider }
  return new Map(readProviders(config).map((settings) => [settings.id, create[settings.kind](settings, fetch)]))
}

import type { Executor } from '../../db/database.ts'
import { findConfig, removeConfig, saveConfig, saveIdentifiers } from '../../identities/credentials.ts'

/** A provider account that signs an identity in. */
export interface OidcLink {
  /** The id of the provider in the settings. */
  provider: string
  /** The permanent id of the account at the provider. */
  subject: string
}

/** The identifier under which a link is stored and found. */
export const oidcIdentifier = ({ provider, subject }: OidcLink): string => `${provider}:${subject}`

/** @param options.lock blocks concurrent changes until the transaction ends */
export async function findLinks(tx: Executor, identityId: string, options?: { lock: boolean }): Promise<OidcLink[]> {
  const config = await findConfig<{ providers: OidcLink[] }>(tx, identityId, 'oidc', options)
  return config?.providers ?? []
}

/** Replaces the links of an identity. */
export async function saveLinks(tx: Executor, identityId: string, providers: OidcLink[]): Promise<void> {
  if (providers.length === 0) return removeConfig(tx, identityId, 'oidc')
  await saveConfig(tx, identityId, 'oidc', { providers })
  await saveIdentifiers(tx, identityId, 'oidc', providers.map(oidcIdentifier))
}

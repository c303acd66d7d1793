/** The provider accounts that sign an identity in. */
export interface OidcConfig {
  providers: OidcLink[]
}

export interface OidcLink {
  /** The id of the provider in the settings. */
  provider: string
  /** The permanent id of the account at the provider. */
  subject: string
}

/** The identifier under which a link is stored and found. */
export const oidcIdentifier = ({ provider, subject }: OidcLink): string => `${provider}:${subject}`

export function isLinked(config: OidcConfig | undefined, identifier: string): boolean {
  return config?.providers.some((link) => oidcIdentifier(link) === identifier) ?? false
}

/** Which accounts elsewhere sign an identity in. */
export interface OidcConfig {
  providers: OidcLink[]
}

export interface OidcLink {
  /** The id of the provider in the settings. */
  provider: string
  /** What the provider calls its account, for ever. */
  subject: string
}

/** How a link finds its identity. */
export const oidcIdentifier = ({ provider, subject }: OidcLink): string => `${provider}:${subject}`

export function isLinked(config: OidcConfig | undefined, identifier: string): boolean {
  return config?.providers.some((link) => oidcIdentifier(link) === identifier) ?? false
}

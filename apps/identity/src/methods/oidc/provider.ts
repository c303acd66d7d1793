/** The data that a provider returns about its account. */
export interface Claims {
  subject: string
  email?: string
  /** The provider has verified the address, and it is configured as trusted. */
  emailVerified: boolean
  firstName?: string
  lastName?: string
}

/** The data to keep between the redirect to the provider and the return. */
export interface Departure {
  url: string
  verifier: string
  nonce: string
}

/** An identity provider that users can sign in with. */
export interface Provider {
  id: string
  label: string
  /** The address to redirect a browser to: code flow with PKCE, state and (OpenID Connect) nonce. */
  depart(options: { redirectUri: string; state: string }): Promise<Departure>
  /**
   * Exchanges the code of a browser that returned.
   *
   * @param options.url the callback address, with its query
   * @throws ProviderError when the provider refuses, is unreachable, or returns an invalid answer
   */
  arrive(options: { url: URL; state: string; verifier: string; nonce: string }): Promise<Claims>
}

/** A failure of the provider or of the connection to it; the message may be shown. */
export class ProviderError extends Error {
  override name = 'ProviderError'
}

/** Splits the full name from a provider into first and last name. */
export function splitName(name: string | undefined): Pick<Claims, 'firstName' | 'lastName'> {
  const [first = '', ...rest] = (name ?? '').trim().split(/\s+/)
  return {
    ...(first === '' ? {} : { firstName: first }),
    ...(rest.length === 0 ? {} : { lastName: rest.join(' ') }),
  }
}

/** What a provider says about its account. */
export interface Claims {
  subject: string
  email?: string
  /** The provider has made sure that the address is the person's, and may be believed. */
  emailVerified: boolean
  firstName?: string
  lastName?: string
}

/** What must be kept between sending a browser off and its return. */
export interface Departure {
  url: string
  verifier: string
  nonce: string
}

/** One identity provider that people may sign in with. */
export interface Provider {
  id: string
  label: string
  /** Where to send a browser: code flow with PKCE, state and (OpenID Connect) nonce. */
  depart(options: { redirectUri: string; state: string }): Promise<Departure>
  /**
   * Redeems what a browser brought back.
   *
   * @param options.url the address that it came back to, with its query
   * @throws ProviderError when the provider refuses, cannot be reached, or says something that does not hold
   */
  arrive(options: { url: URL; state: string; verifier: string; nonce: string }): Promise<Claims>
}

/** The provider's fault, or that of the way there; the message may be shown. */
export class ProviderError extends Error {
  override name = 'ProviderError'
}

/** First and last name out of what providers call a name. */
export function splitName(name: string | undefined): Pick<Claims, 'firstName' | 'lastName'> {
  const [first = '', ...rest] = (name ?? '').trim().split(/\s+/)
  return {
    ...(first === '' ? {} : { firstName: first }),
    ...(rest.length === 0 ? {} : { lastName: rest.join(' ') }),
  }
}

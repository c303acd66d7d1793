import type { CaptchaSettings } from '../config/captcha.ts'

// What the directories of the service offer to each other through `App`. Each one implements its interface and imports it from here.

export interface Captcha extends Pick<CaptchaSettings, 'siteKey' | 'scriptUrl'> {
  /** `unavailable` when the verifier does not answer, or not as documented. The user may retry and is not let in. */
  verify(token: string, clientAddress: string): Promise<'right' | 'wrong' | 'unavailable'>
}

export interface PasswordHasher {
  hash(password: string): Promise<string>
  /** Whether `password` matches `hashed`. Without a hash, a dummy hash is checked, so that unknown accounts take the same time. */
  verify(hashed: string | undefined, password: string): Promise<boolean>
}

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
export interface AuthorizationRequest {
  url: string
  verifier: string
  nonce: string
}

/** An identity provider that users can sign in with. */
export interface Provider {
  id: string
  label: string
  /** The address to redirect a browser to: code flow with PKCE, state and (OpenID Connect) nonce. */
  start(options: { redirectUri: string; state: string }): Promise<AuthorizationRequest>
  /**
   * Exchanges the code of a browser that returned.
   *
   * @param options.url the callback address, with its query
   * @throws ProviderError when the provider refuses, is unreachable, or returns an invalid answer
   */
  complete(options: { url: URL; state: string; verifier: string; nonce: string }): Promise<Claims>
}

/** The configured providers by id, in the order of the form. */
export type Providers = ReadonlyMap<string, Provider>

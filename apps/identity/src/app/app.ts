import type { Logger } from '@crux/service-kit'
import type { IdentityConfig } from '../config/config.ts'
import type { Keys } from '../crypto/secrets.ts'
import type { Database } from '../db/database.ts'
import type { Outbox } from '../mail/outbox.ts'
import type { Limiter } from './limiter.ts'
import type { Captcha, PasswordHasher, Providers } from './services.ts'

/** The dependencies of all parts of the service, composed once in start.ts. */
export interface App {
  config: IdentityConfig
  /** The address that browsers use for this service: CRUX_URL/kratos. */
  publicUrl: string
  /** The console's address without a trailing slash. */
  consoleUrl: string
  acceptedOrigins: ReadonlySet<string>
  /** A mail server is configured, so users must verify their address before they sign in. */
  verifiesAddresses: boolean
  /** Typed addresses count as verified; see `assumesAddresses` of the configuration. */
  assumesAddresses: boolean
  /** Mail can be read: by a mail server, or in the directory that is shown to the operator. */
  sendsMail: boolean
  database: Database
  keys: Keys
  passwords: PasswordHasher
  limiter: Limiter
  outbox: Outbox
  /** The identity providers that users can sign in with. */
  providers: Providers
  /** The captcha, if one is configured. */
  captcha: Captcha | undefined
  log: Logger
}

/** The console's pages for the flows. */
export const uiPaths = {
  login: '/auth/login',
  registration: '/auth/register',
  verification: '/auth/verify',
  recovery: '/auth/recovery',
  settings: '/auth/settings',
  registrationWithProvider: '/auth/register-oidc',
  error: '/error',
} as const

export function uiUrl(app: App, page: keyof typeof uiPaths, query?: Record<string, string>): string {
  return `${app.consoleUrl}${uiPaths[page]}${query ? `?${new URLSearchParams(query)}` : ''}`
}

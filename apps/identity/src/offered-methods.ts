import type { OfferedMethods } from './flows/offered-methods.ts'
import { codeLogin, codeRegistration } from './methods/code-sign-in.ts'
import { lookupLogin, lookupSettings } from './methods/lookup-secrets.ts'
import { oidcLogin, oidcRegistration, oidcSettings } from './methods/oidc/methods.ts'
import { passwordLogin, passwordRegistration, passwordSettings } from './methods/password.ts'
import { profileSettings } from './methods/profile.ts'
import { totpLogin, totpSettings } from './methods/totp.ts'
import { passkeyLogin, passkeyRegistration, passkeySettings } from './methods/webauthn/passkeys.ts'
import { securityKeyLogin, securityKeySettings } from './methods/webauthn/security-keys.ts'

/** Every way to sign in, to sign up and to change an account. A new one is added here and nowhere else. */
export const offeredMethods: OfferedMethods = {
  login: [oidcLogin, passkeyLogin, codeLogin, passwordLogin, totpLogin, securityKeyLogin, lookupLogin],
  registration: [oidcRegistration, passkeyRegistration, codeRegistration, passwordRegistration],
  settings: [
    profileSettings,
    passwordSettings,
    oidcSettings,
    lookupSettings,
    securityKeySettings,
    passkeySettings,
    totpSettings,
  ],
}

import type { SettingsMethod } from './flows/settings-method.ts'
import type { LoginMethod, RegistrationMethod } from './flows/sign-in-method.ts'
import { codeLogin, codeRegistration } from './methods/code-sign-in.ts'
import { lookupLogin, lookupSettings } from './methods/lookup-secrets.ts'
import { oidcLogin, oidcRegistration, oidcSettings } from './methods/oidc/methods.ts'
import { passwordLogin, passwordRegistration, passwordSettings } from './methods/password.ts'
import { profileSettings } from './methods/profile.ts'
import { totpLogin, totpSettings } from './methods/totp.ts'
import { passkeyLogin, passkeyRegistration, passkeySettings } from './methods/webauthn/passkeys.ts'
import { securityKeyLogin, securityKeySettings } from './methods/webauthn/security-keys.ts'

/** The methods of the flows, in the order of their forms. A method that is not configured shows no nodes and accepts no submit. */
export const loginMethods: LoginMethod[] = [
  oidcLogin,
  passkeyLogin,
  codeLogin,
  passwordLogin,
  totpLogin,
  securityKeyLogin,
  lookupLogin,
]
export const registrationMethods: RegistrationMethod[] = [
  oidcRegistration,
  passkeyRegistration,
  codeRegistration,
  passwordRegistration,
]
export const settingsMethods: SettingsMethod[] = [
  profileSettings,
  passwordSettings,
  oidcSettings,
  lookupSettings,
  securityKeySettings,
  passkeySettings,
  totpSettings,
]

import type { SettingsMethod } from '../flows/settings-method.ts'
import type { LoginMethod, RegistrationMethod } from '../flows/sign-in-method.ts'
import { codeLogin, codeRegistration } from './code-sign-in.ts'
import { lookupLogin, lookupSettings } from './lookup-secrets.ts'
import { oidcLogin, oidcRegistration, oidcSettings } from './oidc/methods.ts'
import { passwordLogin, passwordRegistration, passwordSettings } from './password.ts'
import { profileSettings } from './profile.ts'
import { totpLogin, totpSettings } from './totp.ts'
import { passkeyLogin, passkeyRegistration, passkeySettings } from './webauthn/passkeys.ts'
import { securityKeyLogin, securityKeySettings } from './webauthn/security-keys.ts'

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

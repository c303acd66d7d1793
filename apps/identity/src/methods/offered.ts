import type { SettingsMethod } from '../flows/settings-method.ts'
import type { LoginMethod, RegistrationMethod } from '../flows/sign-in-method.ts'
import { passwordLogin, passwordRegistration, passwordSettings } from './password.ts'
import { profileSettings } from './profile.ts'

/** What the flows offer, in the order of their forms. A method that is not set up shows no nodes and takes no submit. */
export const loginMethods: LoginMethod[] = [passwordLogin]
export const registrationMethods: RegistrationMethod[] = [passwordRegistration]
export const settingsMethods: SettingsMethod[] = [profileSettings, passwordSettings]

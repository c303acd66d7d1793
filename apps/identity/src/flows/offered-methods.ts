import type { App } from '../app/app.ts'
import type { Fields } from '../http/body.ts'
import type { SettingsMethod } from './settings-method.ts'
import type { LoginMethod, RegistrationMethod } from './sign-in-method.ts'

/** The methods of the flows, in the order of their forms. A method that is not configured shows no nodes and accepts no submit. */
export interface OfferedMethods {
  login: readonly LoginMethod[]
  registration: readonly RegistrationMethod[]
  settings: readonly SettingsMethod[]
}

/** What the flows use. The methods are given to them at the start, so the flows import none of them. */
export interface FlowApp extends App {
  methods: OfferedMethods
}

/** The method that a submit belongs to. */
export function findMethod<M extends Pick<LoginMethod, 'id' | 'claims'>>(
  methods: readonly M[],
  { fields, method }: { fields: Fields; method: string },
): M | undefined {
  return methods.find((offered) => offered.claims?.(fields, method) ?? offered.id === method)
}

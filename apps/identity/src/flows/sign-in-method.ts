import type { App } from '../app/app.ts'
import type { Flow, FlowContext, Traits } from '../db/schema.ts'
import type { Fields } from '../http/body.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { NewCredential } from '../identities/store.ts'
import type { Signed } from '../sessions/current.ts'
import type { Message } from '../ui/messages.ts'
import { type FieldMessages, formMessage, type Node } from '../ui/nodes.ts'
import type { FlowChange } from './store.ts'

/** A sign-in method or a second factor. */
export interface LoginMethod {
  /** The value of the form's `method`. */
  id: string
  /** The assurance levels at which the form offers it. */
  aals: readonly ('aal1' | 'aal2')[]
  /** Whether a submit belongs to this method when `method` alone does not identify it. */
  claims?(fields: Fields, method: string): boolean
  /** The nodes of this method beside the shared inputs. May store data in `about.context`, which is saved. */
  nodes(app: App, about: LoginContext): Promise<Node[]> | Node[]
  /** What a browser offers to fill in while a user types the identifier, where it is more than names. */
  autocomplete?(app: App, about: LoginContext): string | undefined
  check(app: App, ctx: RequestContext, attempt: LoginAttempt): Promise<LoginOutcome>
}

export interface LoginContext {
  type: Flow['type']
  aal: 'aal1' | 'aal2'
  refresh: boolean
  /** The current session, if the user is signed in already. */
  session: Signed | undefined
  context: FlowContext
}

export interface LoginAttempt {
  flow: Flow
  fields: Fields
  session: Signed | undefined
}

export type LoginOutcome =
  | {
      kind: 'proven'
      identityId: string
      /** The method that the session records; the id of this method when absent. */
      method?: string
      /** The assurance level that it proves; aal1 when absent. */
      aal?: 'aal1' | 'aal2'
    }
  | {
      kind: 'refused'
      /** By field; under '' for the form as a whole. */
      found: FieldMessages
      /** The value of the identifier input in the answer. */
      identifier?: string
      active?: string
    }
  /** The submitted code is right but has expired, so a new flow starts. */
  | { kind: 'expired'; at: Date }
  /** The flow continues with another form (for example after a code was sent). */
  | { kind: 'continued'; change: FlowChange; status?: number }
  /** The method has sent the answer itself (for example a redirect to a provider). */
  | { kind: 'answered'; answer: unknown }

/** A sign-up method. */
export interface RegistrationMethod {
  id: string
  claims?(fields: Fields, method: string): boolean
  /** The nodes of this method beside the traits. May store data in `context`, which is saved. */
  nodes(app: App, about: { type: Flow['type']; context: FlowContext }): Promise<Node[]> | Node[]
  check(app: App, ctx: RequestContext, attempt: { flow: Flow; fields: Fields }): Promise<RegistrationOutcome>
}

export type RegistrationOutcome =
  | {
      kind: 'proven'
      traits: Traits
      /** The credentials of the new identity. */
      credentials: NewCredential[]
      /** Whether the sign-up also signs in. The session then records the id of this method. */
      session: boolean
      /** The provider of the account that was proven, if there is one. */
      provider?: string
      /** The sign-up has proven the address. */
      verified?: boolean
    }
  | { kind: 'refused'; found: FieldMessages; traits: unknown }
  | { kind: 'expired'; at: Date }
  | { kind: 'continued'; change: FlowChange; status?: number }
  | { kind: 'answered'; answer: unknown }

/** An outcome that refuses the submit with a message for the form as a whole, or for one field. */
export function refusedWith(message: Message, field = '') {
  return { kind: 'refused' as const, found: formMessage(message, field) }
}

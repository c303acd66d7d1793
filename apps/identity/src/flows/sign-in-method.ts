import type { App } from '../context.ts'
import type { Traits } from '../db/schema.ts'
import type { Fields } from '../http/body.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { NewCredential } from '../identities/store.ts'
import type { Signed } from '../sessions/credentials.ts'
import type { Flow } from './flow-record.ts'
import type { FlowContext } from './flow-types.ts'
import type { FieldMessages, Node } from './nodes.ts'
import type { FlowChange } from './store.ts'

/** A way to sign in, or to prove a second factor. Listed in methods/offered.ts, in the order of the form. */
export interface LoginMethod {
  /** The value of the form's `method`. */
  id: string
  /** At which levels of assurance the form offers it. */
  aals: readonly ('aal1' | 'aal2')[]
  /** Whether a submit is for this method, where `method` alone does not say it. */
  claims?(fields: Fields, method: string): boolean
  /** What the form shows of it beside the shared inputs. May remember things in `about.context`, which is saved. */
  nodes(app: App, about: LoginAbout): Promise<Node[]> | Node[]
  check(app: App, ctx: RequestContext, attempt: LoginAttempt): Promise<LoginOutcome>
}

export interface LoginAbout {
  type: Flow['type']
  aal: 'aal1' | 'aal2'
  refresh: boolean
  /** Who asks, when somebody is signed in already. */
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
      /** How, as the session notes it; the method's id when absent. */
      method?: string
      /** What it proves; aal1 when absent. */
      aal?: 'aal1' | 'aal2'
    }
  | {
      kind: 'refused'
      /** By field; under '' for the form as a whole. */
      found: FieldMessages
      /** What the identifier's input holds afterwards. */
      identifier?: string
      active?: string
    }
  /** What was sent for it is right, and too old: the flow begins anew. */
  | { kind: 'expired'; at: Date }
  /** The flow goes on with another form (a code was sent). */
  | { kind: 'continued'; change: FlowChange; status?: number }
  /** The method has answered by itself (it sends the browser elsewhere). */
  | { kind: 'answered'; answer: unknown }

/** A way to sign up. Listed in methods/offered.ts. */
export interface RegistrationMethod {
  id: string
  claims?(fields: Fields, method: string): boolean
  /** What the form shows of it beside the traits. May remember things in `context`, which is saved. */
  nodes(app: App, about: { type: Flow['type']; context: FlowContext }): Promise<Node[]> | Node[]
  check(app: App, ctx: RequestContext, attempt: { flow: Flow; fields: Fields }): Promise<RegistrationOutcome>
}

export type RegistrationOutcome =
  | {
      kind: 'proven'
      traits: Traits
      /** What the person signs in with from now on. */
      credentials: NewCredential[]
      /** Whether the sign-up also signs in; how, as the session notes it, is the method's id. */
      session: boolean
      /** Where the account is that was proven, if it is one elsewhere. */
      provider?: string
      /** The address has been proven on the way. */
      verified?: boolean
    }
  | { kind: 'refused'; found: FieldMessages; traits: unknown }
  | { kind: 'expired'; at: Date }
  | { kind: 'continued'; change: FlowChange; status?: number }
  | { kind: 'answered'; answer: unknown }

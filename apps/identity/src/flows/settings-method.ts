import type { App } from '../app/app.ts'
import type { Executor } from '../db/database.ts'
import type { Flow, FlowContext } from '../db/schema.ts'
import type { Fields } from '../http/body.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { User, VerifiableAddress } from '../identities/store.ts'
import type { Signed } from '../sessions/current.ts'
import type { FieldMessages, Node } from '../ui/nodes.ts'

/** A part of the settings: the profile, a password, a factor. */
export interface SettingsMethod {
  /** The value of the form's `method`, and the key in `context.methods`. */
  id: string
  /** Whether a submit belongs to this method when `method` alone does not identify it (a button with another name). */
  claims?(fields: Fields, method: string): boolean
  /** The nodes of this method for a user. May store data for the submit in `about.context`, which is saved. */
  nodes(app: App, about: SettingsContext): Promise<Node[]> | Node[]
  /** Whether the submit needs a session whose user has authenticated recently. Always needed when absent. */
  privileged?(attempt: SettingsAttempt): boolean
  /** Checks a submit and returns the change. The settings flow writes it in one transaction. */
  submit(app: App, attempt: SettingsAttempt): Promise<SettingsOutcome>
}

export interface SettingsContext {
  type: Flow['type']
  user: User
  session: Signed
  context: FlowContext
}

export interface SettingsAttempt extends SettingsContext {
  ctx: RequestContext
  flow: Flow
  fields: Fields
}

export type SettingsOutcome =
  | {
      kind: 'changed'
      /** @returns the address to verify, if the change added one */
      write(tx: Executor): Promise<VerifiableAddress | undefined>
      /** The nodes of the method with the submitted values, for the case that another user has the identifier already. */
      nodes?: Node[]
      /** The change proves a second factor, which upgrades the session to aal2. */
      proves?: string
      /**
       * The normalized address that the change gives the user. It is limited, because the answer reveals whether it is taken and sends mail to it.
       */
      address?: string
      /** The address at which the browser continues instead of the settings. */
      redirectTo?: string
    }
  /** Nothing is stored, but the form shows the new state of `context` (for example new lookup codes before their confirmation). */
  | { kind: 'shown' }
  | {
      kind: 'refused'
      /** By field; under '' for the form as a whole. */
      found: FieldMessages
      /** The nodes of the method with the submitted values; its usual nodes when absent. */
      nodes?: Node[]
    }
  /** The method has sent the answer itself (for example a redirect to a provider). */
  | { kind: 'answered'; answer: unknown }

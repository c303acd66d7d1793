import type { App } from '../context.ts'
import type { Executor } from '../db/executor.ts'
import type { Fields } from '../http/body.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { Person, VerifiableAddress } from '../identities/store.ts'
import type { Signed } from '../sessions/credentials.ts'
import type { Flow } from './flow-record.ts'
import type { FlowContext } from './flow-types.ts'
import type { Message } from './messages.ts'
import type { FieldMessages, Node } from './nodes.ts'

/** A part of the settings: the profile, a password, a factor. Listed in methods/offered.ts, in the order of the form. */
export interface SettingsMethod {
  /** The value of the form's `method`; also its key in `context.methods`. */
  id: string
  /** Whether a submit is for this method, where `method` alone does not say it (a button named otherwise). */
  claims?(fields: Fields, method: string): boolean
  /** What the form shows of it for a person. May remember things for the submit in `about.context`, which is saved. */
  nodes(app: App, about: SettingsAbout): Promise<Node[]> | Node[]
  /** Whether the submit needs a session whose person has proven lately who they are; when absent, always. */
  privileged?(attempt: SettingsAttempt): boolean
  /** Checks a submit. What it changes is only described here; the frame writes it, in one transaction. */
  submit(app: App, attempt: SettingsAttempt): Promise<SettingsOutcome>
}

export interface SettingsAbout {
  type: Flow['type']
  person: Person
  session: Signed
  context: FlowContext
}

export interface SettingsAttempt extends SettingsAbout {
  ctx: RequestContext
  flow: Flow
  fields: Fields
}

export type SettingsOutcome =
  | {
      kind: 'changed'
      /** @returns the address that is to be verified from now on, if the change brought one */
      write(tx: Executor): Promise<VerifiableAddress | undefined>
      /** The method's nodes as they were filled in, should another person have the identifier already. */
      nodes?: Node[]
      /** The change proves a second factor: the session rises to aal2. */
      proves?: string
      /** The address, in normal form, that the change gives the person: whose it was is told, and mail may go there. */
      address?: string
      /** Where the browser goes on instead of the settings. */
      redirectTo?: string
    }
  /** Nothing changed, but the form shows something else, as `context` now says (new lookup codes before they are kept). */
  | { kind: 'shown' }
  | {
      kind: 'refused'
      /** By field; under '' for the form as a whole. */
      found: FieldMessages
      /** The method's nodes as they were filled in; its usual ones when absent. */
      nodes?: Node[]
    }
  /** The method has answered by itself (it sends the browser elsewhere). */
  | { kind: 'answered'; answer: unknown }

/** A refusal that concerns the form as a whole. */
export function refusedWith(...messages: Message[]): SettingsOutcome {
  return { kind: 'refused', found: new Map([['', messages]]) }
}

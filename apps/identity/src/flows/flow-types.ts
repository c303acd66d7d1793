/** What the service remembers of a flow and no client sees. */

import type { Message } from './messages.ts'
import type { Node } from './nodes.ts'

export interface FlowContext {
  requestedAal?: string
  refresh?: boolean
  /** The sign-in failed so often that a captcha is asked for. */
  captcha?: boolean
  /** Any browser may use the flow: an administrator made it and passed its address on. */
  unbound?: boolean
  /** A native app asked for a code with which it gets the session that a browser earns for it. */
  exchanges?: boolean
  /** What methods remember between two answers, by their id. Secrets in it are encrypted by who puts them here. */
  methods?: Record<string, Record<string, unknown>>
}

export type FlowKind = 'login' | 'registration' | 'verification' | 'recovery' | 'settings'
/** The last two are of settings, the others of everything else. */
export type FlowState = 'choose_method' | 'sent_email' | 'passed_challenge' | 'show_form' | 'success'
/** What a page renders. `action` is absent while it is the flow's own submit address. */
export interface FlowUi {
  method: 'POST' | 'GET'
  action?: string
  messages: Message[]
  nodes: Node[]
}

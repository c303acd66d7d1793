/** What the service remembers of a flow and no client sees. */

import type { Message } from '../ui/messages.ts'
import type { Node } from '../ui/nodes.ts'

/** The state of a flow that clients do not see. */
export interface FlowContext {
  requestedAal?: string
  refresh?: boolean
  /** Too many sign-ins have failed, so the flow requires a captcha. */
  captcha?: boolean
  /** Any browser may use the flow, because an administrator created it and passed its address on. */
  unbound?: boolean
  /** A native app requested a code to exchange for the session that a browser obtains. */
  exchanges?: boolean
  /** The state of each method between two requests, by its id. The method encrypts secrets before it stores them here. */
  methods?: Record<string, Record<string, unknown>>
}

export type FlowKind = 'login' | 'registration' | 'verification' | 'recovery' | 'settings'
/** The last two states occur in settings flows, the others in all other flows. */
export type FlowState = 'choose_method' | 'sent_email' | 'passed_challenge' | 'show_form' | 'success'
/** The content that a page renders. `action` is absent when it is the submit address of the flow. */
export interface FlowUi {
  method: 'POST' | 'GET'
  action?: string
  messages: Message[]
  nodes: Node[]
}

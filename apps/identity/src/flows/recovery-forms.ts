import { messages } from './messages.ts'
import { csrfNode, type FieldMessages, input, type Node, noMessages, withMessages } from './nodes.ts'

/** Asks for the address of the account. */
export function recoveryAddressForm(options: { email?: string; found?: FieldMessages } = {}): Node[] {
  const nodes = [csrfNode(), emailInput('code', options.email), submitCode()]
  return withMessages(nodes, options.found ?? noMessages)
}

/** Asks for the code that was sent, or offers to send another one to the same address. */
export function recoveryCodeForm(sentTo: string): Node[] {
  return [
    csrfNode(),
    codeInput(),
    input('code', 'method', 'hidden', { value: 'code' }),
    submitCode(),
    input('code', 'email', 'submit', { value: sentTo, label: messages.labelResend() }),
  ]
}

/** The page of a code that an administrator passes on: any browser may use it, so it has no csrf token. */
export function passedOnCodeForm(): Node[] {
  return [codeInput(), submitCode()]
}

/** Says where the link went; the person goes on from there. */
export function recoveryLinkForm(sentTo: string): Node[] {
  return [csrfNode(), emailInput('link', sentTo), submitCode()]
}

function emailInput(group: string, value: string | undefined): Node {
  return input(group, 'email', 'email', { value, required: true, label: messages.labelEmail() })
}

function codeInput(): Node {
  const node = input('code', 'code', 'text', { required: true, label: messages.labelRecoveryCode() })
  return { ...node, attributes: { ...node.attributes, pattern: '[0-9]+', maxlength: 6 } }
}

function submitCode(): Node {
  return input('code', 'method', 'submit', { value: 'code', label: messages.labelContinue() })
}

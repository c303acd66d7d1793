import { messages } from '../ui/messages.ts'
import { csrfNode, type FieldMessages, input, type Node, noMessages, submitButton, withMessages } from '../ui/nodes.ts'
import { emailInput } from './forms.ts'

/** The form that requests the address of the account, to send a code or a link to it. */
export function recoveryAddressForm(by: 'code' | 'link' = 'code', found: FieldMessages = noMessages): Node[] {
  return withMessages([csrfNode(), emailInput(undefined, by), submitButton(by, messages.labelContinue())], found)
}

/** The form that requests the code, or offers to send another one to the same address. */
export function recoveryCodeForm(sentTo: string): Node[] {
  return [
    csrfNode(),
    codeInput(),
    input('code', 'method', 'hidden', { value: 'code' }),
    submitButton('code', messages.labelContinue()),
    input('code', 'email', 'submit', { value: sentTo, label: messages.labelResend() }),
  ]
}

/** The form for a code that an administrator passed on. Every browser may use it, so it has no csrf token. */
export function passedOnCodeForm(): Node[] {
  return [codeInput(), submitButton('code', messages.labelContinue())]
}

/** The form that shows where the link was sent. The user continues from the mail. */
export function recoveryLinkForm(sentTo: string): Node[] {
  return [csrfNode(), emailInput(sentTo, 'link'), submitButton('code', messages.labelContinue())]
}

function codeInput(): Node {
  const node = input('code', 'code', 'text', { required: true, label: messages.labelRecoveryCode() })
  return { ...node, attributes: { ...node.attributes, pattern: '[0-9]+', maxlength: 6 } }
}

import { traitAt, traitFields } from '../identities/traits.ts'
import { messages } from '../ui/messages.ts'
import { csrfNode, type FieldMessages, input, type Node, noMessages, submitButton, withMessages } from '../ui/nodes.ts'

/** The inputs that the sign-in methods share. */
export function loginInputs(identifier = '', autocomplete?: string): Node[] {
  return [
    csrfNode(),
    input('default', 'identifier', 'text', {
      value: identifier,
      required: true,
      autocomplete,
      label: messages.labelTrait('E-Mail'),
    }),
  ]
}

/** One input per trait of the schema. */
export function traitInputs(group: string, traits?: unknown): Node[] {
  return traitFields().map(({ name, schema, required }) => {
    const email = schema.format === 'email'
    const value = traitAt(traits, name)
    return input(group, name, email ? 'email' : 'text', {
      value: typeof value === 'object' ? undefined : value,
      required,
      ...(email ? { autocomplete: 'email' } : {}),
      ...(schema.title ? { label: messages.labelTrait(schema.title) } : {}),
    })
  })
}

/** The form that requests the address to verify. API flows have no csrf token here. */
export function verificationAddressForm(
  type: 'api' | 'browser',
  options: { email?: string; found?: FieldMessages } = {},
): Node[] {
  const nodes = [
    emailInput(options.email),
    submitButton('code', messages.labelContinue()),
    ...(type === 'browser' ? [csrfNode()] : []),
  ]
  return withMessages(nodes, options.found ?? noMessages)
}

/**
 * The form that requests the code.
 *
 * @param options.resendTo offers to send the code again to this address
 * @param options.code prefills the code after the link of a mail was opened
 */
export function verificationCodeForm(
  type: 'api' | 'browser',
  options: { resendTo?: string; code?: string; email?: string; found?: FieldMessages } = {},
): Node[] {
  const nodes = [
    input('code', 'method', 'hidden', { value: 'code' }),
    input('code', 'code', 'text', { value: options.code, required: true, label: messages.labelVerificationCode() }),
    submitButton('code', messages.labelContinue()),
    ...(type === 'browser' ? [csrfNode()] : []),
    ...(options.resendTo === undefined
      ? []
      : [input('code', 'email', 'submit', { value: options.resendTo, label: messages.labelResend() })]),
    ...(options.found?.has('email') ? [emailInput(options.email)] : []),
  ]
  return withMessages(nodes, options.found ?? noMessages)
}

export function emailInput(value: string | undefined, group = 'code'): Node {
  return input(group, 'email', 'email', { value, required: true, label: messages.labelEmail() })
}

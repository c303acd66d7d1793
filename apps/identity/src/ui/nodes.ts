import type { Keys } from '../crypto/secrets.ts'
import type { Message } from './messages.ts'

export interface Node {
  type: 'input' | 'a' | 'img' | 'text' | 'script' | 'div'
  group: string
  attributes: Record<string, unknown> & { node_type: string; name?: string }
  messages: Message[]
  meta: { label?: Message }
  /** The encrypted attributes of a node that shows a secret, because flows are stored in the database without encryption. */
  sealed?: string
}

interface InputOptions {
  value?: unknown
  required?: boolean
  autocomplete?: string
  disabled?: boolean
  /** The function of webauthn.js that runs on a click, its argument, and the function that runs on load. */
  onclickTrigger?: string
  onclickArgument?: string
  onloadTrigger?: string
  label?: Message
  messages?: Message[]
}

/** Creates an input of a form. Optional attributes are omitted instead of null, as clients expect. */
export function input(group: string, name: string, type: string, options: InputOptions = {}): Node {
  const { value, required, autocomplete, label, disabled = false, onclickTrigger, onloadTrigger } = options
  const argument = options.onclickArgument ?? ''
  return {
    type: 'input',
    group,
    attributes: {
      name,
      type,
      ...(value === undefined ? {} : { value }),
      ...(required ? { required } : {}),
      ...(autocomplete ? { autocomplete } : {}),
      disabled,
      // The same call as a script, for clients that evaluate it. The console calls the function by its name.
      ...(onclickTrigger ? { onclick: `window.${onclickTrigger}(${argument})`, onclickTrigger } : {}),
      ...(onloadTrigger ? { onload: `window.${onloadTrigger}()`, onloadTrigger } : {}),
      node_type: 'input',
    },
    messages: options.messages ?? [],
    meta: label ? { label } : {},
  }
}

/** A placeholder for the csrf token; the token of the browser is inserted when the flow is shown. */
export function csrfNode(): Node {
  return input('default', 'csrf_token', 'hidden', { value: '', required: true })
}

/** The button that submits the form with this method. */
export function submitButton(method: string, label: Message, group = method): Node {
  return input(group, 'method', 'submit', { value: method, label })
}

export function anchor(group: string, id: string, href: string, label: Message): Node {
  return { type: 'a', group, attributes: { href, title: label, id, node_type: 'a' }, messages: [], meta: { label } }
}

export function image(
  group: string,
  id: string,
  source: { src: string; width: number; height: number },
  label: Message,
): Node {
  return { type: 'img', group, attributes: { ...source, id, node_type: 'img' }, messages: [], meta: { label } }
}

export function text(group: string, id: string, shown: Message, label: Message): Node {
  return { type: 'text', group, attributes: { text: shown, id, node_type: 'text' }, messages: [], meta: { label } }
}

/** Encrypts the attributes of a node until the flow is shown. */
export function sealed(keys: Keys, node: Node): Node {
  const { node_type, id } = node.attributes
  return { ...node, attributes: { node_type, id }, sealed: keys.seal(JSON.stringify(node.attributes), 'node') }
}

/** Decrypts the attributes of a node for its client. */
export function unsealed(keys: Keys, { sealed: hidden, ...node }: Node): Node {
  if (hidden === undefined) return node
  return { ...node, attributes: JSON.parse(keys.open(hidden, 'node')) }
}

/** The messages of a form: per field by name, and under '' for the form as a whole. */
export type FieldMessages = ReadonlyMap<string, Message[]>

export const noMessages: FieldMessages = new Map()

/** A message for the form as a whole, or for one field. */
export function formMessage(message: Message, field = ''): FieldMessages {
  return new Map([[field, [message]]])
}

/** Adds a message to those of a field. */
export function addMessage(messages: Map<string, Message[]>, field: string, message: Message): void {
  messages.set(field, [...(messages.get(field) ?? []), message])
}

/** Attaches messages to their nodes. A field without a node gets one, so that no message is lost. */
export function withMessages(nodes: Node[], messages: FieldMessages): Node[] {
  const known = new Set(nodes.map((node) => node.attributes.name))
  const extra = [...messages.keys()].filter((field) => field !== '' && !known.has(field))
  return [
    ...nodes.map((node) => {
      const { name, type } = node.attributes
      const own = name === undefined || type === 'submit' ? undefined : messages.get(name)
      return own ? { ...node, messages: own } : node
    }),
    ...extra.map((field) => input('default', field, 'text', { messages: messages.get(field) ?? [] })),
  ]
}

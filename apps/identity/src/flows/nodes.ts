import type { Message } from './messages.ts'

export interface Node {
  type: 'input' | 'a'
  group: string
  attributes: Record<string, unknown> & { node_type: string; name?: string }
  messages: Message[]
  meta: { label?: Message }
}

interface InputOptions {
  value?: unknown
  required?: boolean
  autocomplete?: string
  label?: Message
  messages?: Message[]
}

/** An input of a form. Optional attributes are left out rather than null, as clients expect them. */
export function input(group: string, name: string, type: string, options: InputOptions = {}): Node {
  const { value, required, autocomplete, label } = options
  return {
    type: 'input',
    group,
    attributes: {
      name,
      type,
      ...(value === undefined ? {} : { value }),
      ...(required ? { required } : {}),
      ...(autocomplete ? { autocomplete } : {}),
      disabled: false,
      node_type: 'input',
    },
    messages: options.messages ?? [],
    meta: label ? { label } : {},
  }
}

/** The place of the csrf token; a browser's own is put in when the flow is shown. */
export function csrfNode(): Node {
  return input('default', 'csrf_token', 'hidden', { value: '', required: true })
}

export function anchor(group: string, id: string, href: string, label: Message): Node {
  return { type: 'a', group, attributes: { href, title: label, id, node_type: 'a' }, messages: [], meta: { label } }
}

/** Messages of a form: those of one field by its name, those of the whole under ''. */
export type FieldMessages = ReadonlyMap<string, Message[]>

export const noMessages: FieldMessages = new Map()

/** Collects messages by field. */
export function addMessage(messages: Map<string, Message[]>, field: string, message: Message): void {
  messages.set(field, [...(messages.get(field) ?? []), message])
}

/** Puts messages to their nodes; a field without a node gets one, so that no message is lost. */
export function withMessages(nodes: Node[], messages: FieldMessages): Node[] {
  const known = new Set(nodes.map((node) => node.attributes.name))
  const extra = [...messages.keys()].filter((field) => field !== '' && !known.has(field))
  return [
    ...nodes.map((node) => {
      const own = node.attributes.type === 'submit' ? undefined : messages.get(node.attributes.name ?? '')
      return own ? { ...node, messages: own } : node
    }),
    ...extra.map((field) => input('default', field, 'text', { messages: messages.get(field) ?? [] })),
  ]
}

import type { ResponseOf } from '@crux/contract'

export type Entry = ResponseOf<'audit-log.list'>['items'][number]

/** The operation of an event, which is its audit label and the operation: `registry registries.create`. */
export const operationOf = (event: string): string => event.split(' ').at(-1) ?? event

/** The keys under which an operation may have a sentence: a message of a live channel is known by its own name alone. */
export const sentenceKeysOf = (operation: string): string[] => {
  const message = operation.split('.').at(-1) ?? operation
  return [operation.replace('.', '_'), message]
}

/** `registries.create` -> `Registries: create`; for operations that have no words of their own. */
export function plainOperation(operation: string): string {
  const [area = '', verb = ''] = operation.split('.')
  const words = (text: string) => text.replaceAll('-', ' ')
  const head = words(area)
  return `${head.charAt(0).toUpperCase()}${head.slice(1)}${verb ? `: ${words(verb)}` : ''}`
}

/** The detail that distinguishes an entry from others of its operation: a name, a tag, an address, a container. */
export function detailOf(data: unknown): string | undefined {
  const { body } = (data ?? {}) as { body?: unknown }
  if (typeof body !== 'object' || body === null) return undefined
  const { name, tag, email, role, container, operation } = body as Record<string, unknown>
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
  if (typeof container === 'object' && container !== null) {
    const { prefix, name: own } = container as { prefix?: string; name?: string }
    const full = [prefix, own].filter(Boolean).join('-')
    return text(operation) ? `${operation} ${full}` : full
  }
  return text(name) ?? text(tag) ?? text(email) ?? text(role)
}

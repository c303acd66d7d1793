import type { ResponseOf } from '@crux/contract'
import { textAt, valueAt } from '../../api/unknown-data.ts'

export type Entry = ResponseOf<'audit-log.list'>['items'][number]

/** The operation of an event, which is its audit label and the operation: `registry registries.create`. */
export const getOperation = (event: string): string => event.split(' ').at(-1) ?? event

/** The keys under which an operation may have a sentence: a message of a live channel is known by its own name alone. */
export const getSentenceKeys = (operation: string): string[] => {
  const message = operation.split('.').at(-1) ?? operation
  return [operation.replace('.', '_'), message]
}

/** `registries.create` -> `Registries: create`; for operations that have no words of their own. */
export function plainOperation(operation: string): string {
  const [area = '', verb = ''] = operation.split('.')
  const spaced = (text: string) => text.replaceAll('-', ' ')
  const head = spaced(area)
  return `${head.charAt(0).toUpperCase()}${head.slice(1)}${verb ? `: ${spaced(verb)}` : ''}`
}

/** The detail that distinguishes an entry from others of its operation: a name, a tag, an address, a container. */
export function getDetail(data: unknown): string | undefined {
  const body = valueAt(data, 'body')
  const container = valueAt(body, 'container')
  if (typeof container === 'object' && container !== null) {
    const full = [textAt(container, 'prefix'), textAt(container, 'name')].filter(Boolean).join('-')
    const operation = textAt(body, 'operation')
    return operation ? `${operation} ${full}` : full
  }
  return textAt(body, 'name') ?? textAt(body, 'tag') ?? textAt(body, 'email') ?? textAt(body, 'role')
}

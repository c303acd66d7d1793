import type { Result } from '@crux/contract'

export type Entry = Result<'audit-log.list'>['items'][number]

/** The operation of an event, which is its audit label and the operation: `registry registries.create`. */
export const operationOf = (event: string): string => event.split(' ').at(-1) ?? event

/** `registries.create` -> `Registries: create`; for operations that have no words of their own. */
export function plainOperation(operation: string): string {
  const [area = '', verb = ''] = operation.split('.')
  const words = (text: string) => text.replaceAll('-', ' ')
  const head = words(area)
  return `${head.charAt(0).toUpperCase()}${head.slice(1)}${verb ? `: ${words(verb)}` : ''}`
}

/** What was sent, in one line: the body before the ids of the address. */
export function shortData(data: unknown, max = 120): string {
  if (typeof data !== 'object' || data === null) return ''
  const { body, params, refused, ...rest } = data as Record<string, unknown>
  const parts = [refused, body, rest, params].filter(
    (part) => typeof part === 'object' && part !== null && Object.keys(part).length > 0,
  )
  const text = parts.map((part) => JSON.stringify(part).replace(/^\{|\}$/g, '')).join(', ')
  return text.length > max ? `${text.slice(0, max)}...` : text
}

import type { ContainerRef } from '@crux/agent-protocol'

/** The name of a container of a prefix: what the server knows by prefix and name has this one name on the engine. */
export function fullName(prefix: string, name: string): string {
  return `${prefix}-${name}`
}

/** The name of any container on the engine; one without a prefix belongs to others and has only its own name. */
export function nameOnEngine({ prefix, name }: Pick<ContainerRef, 'prefix' | 'name'>): string {
  return prefix === '' ? name : fullName(prefix, name)
}

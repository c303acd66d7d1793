import { CruxError } from '@crux/contract'
import { OutboundError } from '@crux/service-kit'

export type RegistryTag = { name: string; created?: string | null }

/** What Crux asks of a registry, whichever kind it is. */
export interface RegistryApi {
  /** @throws CruxError that says which field of the form is wrong */
  check(): Promise<void>
  /** Names of images below the registry's prefix. */
  catalog(): Promise<string[]>
  tags(image: string): Promise<RegistryTag[]>
  /** Labels of an image's configuration; empty where the registry has none to give. */
  labels(image: string, tag: string): Promise<Record<string, string>>
}

export type RegistryAccess = { user: string; token: string } | undefined

export const timeoutMs = 10_000
/** More than this many names or tags are not read: a page could not show them. */
export const namesMax = 10_000

export const refusedCredentials = (property = 'token') =>
  new CruxError('registryUnauthorized', { property, description: 'The registry refuses these credentials.' })

/** What a foreign answer means for the person who typed the address. */
export function unexpected(status: number, host: string, property: string): CruxError {
  if (status === 401 || status === 403) return refusedCredentials()
  if (status === 429) return new CruxError('registryRateLimit', { property: 'registryRateLimit' })
  if (status === 404) return new CruxError('notFound', { property, description: `${host} does not know this.` })
  return new CruxError('invalidArgument', {
    property,
    description: `${host} does not answer as a registry (${status}).`,
  })
}

/** @param property the field of the form that names the address */
export function unreachable(error: unknown, property: string): unknown {
  if (!(error instanceof OutboundError)) return error
  // The reason often begins with the host, which keeps its letters.
  const description = `Could not reach the registry: ${error.message}.`
  return new CruxError('invalidArgument', { property, description, cause: error })
}

/** Foreign JSON: anything may be in it. */
export function parseJson(body: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

export const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : []

import { CruxError, type PortProtocol } from '@crux/contract'
import { parseRegistryUrl, type RegistryAddress } from '@crux/rules'
import { OutboundError, type OutboundResponse } from '@crux/service-kit'
import { rateLimited } from './rate-limit.ts'

/** Everything but the name is missing where the registry does not tell it without further requests. */
export type RegistryTag = {
  name: string
  created?: string | null
  digest?: string | null
  /** Bytes of the compressed layers. */
  size?: number | null
  /** Such as `linux/amd64`. */
  platforms?: string[] | null
}

/** The operations that Crux needs of a registry of any kind. */
export interface RegistryApi {
  /** @throws CruxError that names the wrong field of the form */
  check(): Promise<void>
  /** The names of images below the registry's prefix. */
  catalog(): Promise<string[]>
  tags(image: string): Promise<RegistryTag[]>
  /**
   * What further requests tell about one tag, where the list of tags tells less; undefined where they tell nothing.
   *
   * @throws CruxError registryRateLimit; invalidArgument when the registry cannot be reached
   */
  describe(image: string, tag: string): Promise<RegistryTag | undefined>
  /** The labels of an image's configuration; empty where the registry provides none. */
  labels(image: string, tag: string): Promise<Record<string, string>>
  /** The digest of the manifest or index that the tag has now; undefined when the tag does not exist. */
  digest(image: string, tag: string): Promise<string | undefined>
  /** The ports that an image's configuration declares; empty where the registry provides none. */
  exposedPorts(image: string, tag: string): Promise<ExposedPort[]>
}

export type ExposedPort = { internal: number; protocol: PortProtocol }

export type RegistryAccess = { user: string; token: string } | undefined

export const timeoutMs = 10_000
/** Further names or tags are not read, because a page could not show them. */
export const namesMax = 10_000
/** A registry may name a next page after each page: no more of them are read. */
export const pagesMax = 200

/** Adds the entries of a page, up to the number that is kept. A page may hold more entries than a call may have arguments. */
export function appendPage<T>(found: T[], page: readonly T[]): void {
  for (const entry of page.slice(0, Math.max(0, namesMax - found.length))) found.push(entry)
}

export const refusedCredentials = (property = 'token', description = 'The registry refuses these credentials.') =>
  new CruxError('registryUnauthorized', { property, description })

/** The error for the user who typed the address, for an unexpected answer. */
export function unexpected(response: OutboundResponse, host: string, property: string): CruxError {
  const { status } = response
  const limited = rateLimited(response, host)
  if (limited) return limited
  if (status === 401 || status === 403) return refusedCredentials()
  if (status === 404) return new CruxError('notFound', { property, description: `${host} does not know this.` })
  return noRegistry(status, host, property)
}

export const noRegistry = (status: number, host: string, property: string) =>
  new CruxError('invalidArgument', {
    property,
    description: `${host} does not answer as a registry (${status}).`,
  })

/** @param property the field of the form that names the address */
export function unreachable(error: unknown, property: string): unknown {
  if (!(error instanceof OutboundError)) return error
  // The reason often starts with the host, whose letters must keep their case.
  const description = `Could not reach the registry: ${error.message}.`
  return new CruxError('invalidArgument', { property, description, cause: error })
}

/** Parses JSON of a foreign server, which may contain anything. */
export function parseJson(body: Buffer): Record<string, unknown> {
  try {
    return toRecord(JSON.parse(body.toString('utf8')))
  } catch {
    return {}
  }
}

export const toRecord = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {}

/** @returns null for a value that is no date */
export function readDate(value: unknown): string | null {
  const at = new Date(typeof value === 'string' || typeof value === 'number' ? value : Number.NaN)
  return Number.isNaN(at.getTime()) ? null : at.toISOString()
}

export const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === 'string') : []

/** @throws CruxError invalidArgument `property` */
export function readAddress(text: string, property = 'url'): RegistryAddress {
  const parsed = parseRegistryUrl(text)
  if (parsed.ok) return parsed.address
  throw new CruxError('invalidArgument', { property, value: text, description: `${parsed.problem}.` })
}

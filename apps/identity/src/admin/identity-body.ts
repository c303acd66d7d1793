import type { IdentityState, Traits } from '../db/schema.ts'
import { isObject, parseStorableJson, UnstorableError } from '../http/body.ts'
import { badRequest, IdentityError } from '../http/errors.ts'
import { normalizeIdentifier, schemaId } from '../identities/identity-schema.ts'
import { getEmail, traitsProblem } from '../identities/traits.ts'
import { importedHash } from '../methods/imported-hash.ts'

/** The fields of an identity that an administrator may set. */
export interface IdentityBody {
  traits: Traits
  state: IdentityState
  metadataPublic: unknown
  metadataAdmin: unknown
  /** A new password in clear text, or one that another system hashed. */
  password?: { clear: string } | { hash: string }
  /** Whether the e-mail address of the traits is verified; undefined when the request does not include it. */
  verified?: boolean
}

const knownFields = new Set([
  'schema_id',
  'traits',
  'state',
  'metadata_public',
  'metadata_admin',
  'credentials',
  'verifiable_addresses',
  'recovery_addresses',
  'organization_id',
])

export function parseJson(raw: unknown): unknown {
  try {
    return parseStorableJson(typeof raw === 'string' ? raw : '')
  } catch (error) {
    throw new IdentityError(400, {
      message: error instanceof UnstorableError ? error.message : 'The body is not valid JSON.',
    })
  }
}

/**
 * @param options.strict refuses fields that an identity does not have; otherwise they are ignored
 * @throws IdentityError 400 when the value does not describe an identity
 */
export function readIdentityBody(value: unknown, options: { strict: boolean }): IdentityBody {
  if (!isObject(value)) throw new IdentityError(400, { message: 'The body must be a JSON object.' })
  const unknownField = options.strict ? Object.keys(value).find((name) => !knownFields.has(name)) : undefined
  if (unknownField !== undefined) throw new IdentityError(400, { message: `json: unknown field "${unknownField}"` })
  if (value.schema_id !== undefined && value.schema_id !== '' && value.schema_id !== schemaId)
    throw badRequest(`Unable to find JSON Schema ID: ${String(value.schema_id)}`)
  const traits = readTraits(value.traits)
  refuseUnsupported(value, traits)
  return {
    traits,
    state: readState(value.state),
    metadataPublic: value.metadata_public ?? null,
    metadataAdmin: value.metadata_admin ?? null,
    ...readPassword(value.credentials),
    ...readVerified(value.verifiable_addresses, traits),
  }
}

/** Fields that the service would have to ignore are refused, because an import must not lose data unnoticed. */
function refuseUnsupported(value: Record<string, unknown>, traits: Traits): void {
  if ((value.organization_id ?? '') !== '') throw badRequest('organization_id is not supported.')
  const own = normalizeIdentifier(getEmail(traits))
  for (const name of ['verifiable_addresses', 'recovery_addresses']) {
    const addresses = value[name] ?? []
    if (!Array.isArray(addresses)) throw badRequest(`${name} must be a list.`)
    if (!addresses.every((entry) => isAddress(entry, own)))
      throw badRequest(`${name} may hold the e-mail address of the traits and no other.`)
  }
}

export function readTraits(value: unknown): Traits {
  const traits = value ?? {}
  const problem = traitsProblem(traits)
  if (problem !== undefined || !isObject(traits)) throw badRequest(problem ?? 'The traits must be an object.')
  return traits
}

export function readState(value: unknown): IdentityState {
  if (value === undefined || value === null || value === '') return 'active'
  if (value === 'active' || value === 'inactive') return value
  throw new IdentityError(400, {
    message: 'identity state is not valid',
    reason: `The supplied state ('${String(value)}') was not valid. Valid states are ('active', 'inactive').`,
  })
}

function readPassword(credentials: unknown): Pick<IdentityBody, 'password'> {
  if (credentials === undefined || credentials === null) return {}
  if (!isObject(credentials)) throw badRequest('credentials must be an object.')
  const other = Object.keys(credentials).find((type) => type !== 'password')
  if (other !== undefined) throw badRequest(`Credentials of the type ${other} cannot be imported.`)
  const config = isObject(credentials.password) ? credentials.password.config : undefined
  if (!isObject(config)) return {}
  if (typeof config.password === 'string' && config.password !== '') return { password: { clear: config.password } }
  const { hashed_password: hash } = config
  if (hash === undefined || hash === '') return {}
  if (typeof hash !== 'string' || !importedHash(hash))
    throw badRequest('The imported password is not hashed with argon2, bcrypt, PBKDF2, scrypt or SSHA.')
  return { password: { hash } }
}

function readVerified(addresses: unknown, traits: Traits): Pick<IdentityBody, 'verified'> {
  if (!Array.isArray(addresses)) return {}
  const value = normalizeIdentifier(getEmail(traits))
  const own = addresses.find((entry) => isAddress(entry, value))
  return own ? { verified: own.verified === true } : {}
}

function isAddress(entry: unknown, normalized: string): entry is Record<string, unknown> {
  return isObject(entry) && typeof entry.value === 'string' && normalizeIdentifier(entry.value) === normalized
}

import { and, type Column, eq, type SQL, sql } from 'drizzle-orm'
import type { Executor } from '../db/database.ts'
import { credentialIdentifiers, credentials } from '../db/schema.ts'

/** A sign-in method or a second factor of one identity. `config` holds its secret. */
export interface StoredCredential {
  type: string
  config: Record<string, unknown>
}

/**
 * The credentials that are second factors. Empty rows do not count: every identity has one for `webauthn`, because the e-mail address is its
 * identifier.
 */
export const secondFactors = ['totp', 'lookup_secret', 'webauthn'] as const

/** Whether an identity has a second factor, as an SQL condition. `identityId` is a column of the query. */
export function hasSecondFactor(identityId: Column): SQL<boolean> {
  return sql`exists (select 1 from identity.credentials c where c.identity_id = ${identityId}
    and c.type = any(${sql.param([...secondFactors])}) and c.config <> '{}')`
}

/** All credentials of an identity that are not empty. */
export async function listProofs(
  db: Executor,
  identityId: string,
  options: { lock?: boolean } = {},
): Promise<StoredCredential[]> {
  const query = db
    .select({ type: credentials.type, config: credentials.config })
    .from(credentials)
    .where(eq(credentials.identityId, identityId))
  const rows = await (options.lock ? query.for('update') : query)
  return rows.filter(({ config }) => Object.keys(config).length > 0)
}

/**
 * The configuration of one credential, undefined while it is empty.
 *
 * @param options.lock blocks concurrent changes until the transaction ends, so that no code works twice
 */
export async function findConfig<Config extends object = Record<string, unknown>>(
  tx: Executor,
  identityId: string,
  type: string,
  options: { lock?: boolean } = {},
): Promise<Config | undefined> {
  const query = tx
    .select({ config: sql<Config>`${credentials.config}` })
    .from(credentials)
    .where(and(eq(credentials.identityId, identityId), eq(credentials.type, type)))
  const [row] = await (options.lock ? query.for('update') : query)
  return row && Object.keys(row.config).length > 0 ? row.config : undefined
}

/** Inserts or updates a credential. */
export async function saveConfig(
  tx: Executor,
  identityId: string,
  type: string,
  config: Record<string, unknown>,
): Promise<void> {
  await tx
    .insert(credentials)
    .values({ identityId, type, config, version: type === 'webauthn' || type === 'passkey' ? 1 : 0 })
    .onConflictDoUpdate({
      target: [credentials.identityId, credentials.type],
      set: { config, updatedAt: new Date() },
    })
}

/** Deletes a credential. One that is derived from the traits is kept as an empty row. */
export async function removeConfig(tx: Executor, identityId: string, type: string): Promise<void> {
  if (type === 'webauthn') return saveConfig(tx, identityId, type, {})
  const its = and(eq(credentials.identityId, identityId), eq(credentials.type, type))
  await tx.delete(credentials).where(its)
  await saveIdentifiers(tx, identityId, type, [])
}

/**
 * Replaces the identifiers of this credential.
 *
 * @throws when another identity has one of them: see `violatedUniqueConstraint`
 */
export async function saveIdentifiers(
  tx: Executor,
  identityId: string,
  type: string,
  identifiers: string[],
): Promise<void> {
  const its = and(eq(credentialIdentifiers.identityId, identityId), eq(credentialIdentifiers.type, type))
  await tx.delete(credentialIdentifiers).where(its)
  if (identifiers.length === 0) return
  await tx.insert(credentialIdentifiers).values(identifiers.map((identifier) => ({ type, identifier, identityId })))
}

/** The identity whose credential has this identifier. */
export async function findOwner(db: Executor, type: string, identifier: string): Promise<string | undefined> {
  const [row] = await db
    .select({ identityId: credentialIdentifiers.identityId })
    .from(credentialIdentifiers)
    .where(and(eq(credentialIdentifiers.type, type), eq(credentialIdentifiers.identifier, identifier)))
  return row?.identityId
}

/**
 * Deletes all second factors of a user who has lost them.
 *
 * @returns the types that were deleted
 */
export async function removeSecondFactors(tx: Executor, identityId: string): Promise<string[]> {
  const proofs = await listProofs(tx, identityId, { lock: true })
  const held = proofs.map(({ type }) => type).filter((type) => secondFactors.some((factor) => factor === type))
  for (const type of held) await removeConfig(tx, identityId, type)
  return held
}

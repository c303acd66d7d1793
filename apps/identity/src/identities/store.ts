import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Executor } from '../db/database.ts'
import { newId } from '../db/ids.ts'
import {
  credentialIdentifiers,
  credentials,
  type IdentityState,
  identities,
  recoveryAddresses,
  type Traits,
  verifiableAddresses,
} from '../db/schema.ts'
import { saveConfig, saveIdentifiers } from './credentials.ts'
import { identifiedBy, normalizeIdentifier, schemaId } from './identity-schema.ts'
import { getEmail } from './traits.ts'

export type Identity = typeof identities.$inferSelect
export type VerifiableAddress = typeof verifiableAddresses.$inferSelect
export type RecoveryAddress = typeof recoveryAddresses.$inferSelect

/** An identity with its addresses. */
export interface User extends Identity {
  verifiable: VerifiableAddress[]
  recovery: RecoveryAddress[]
}

/** A credential for a new identity. */
export interface NewCredential {
  type: string
  config: Record<string, unknown>
  /** The identifiers, unique over all identities; omitted where the e-mail address is the identifier. */
  identifiers?: string[]
}

export interface NewUser {
  traits: Traits
  /** Credentials in addition to the e-mail address itself. */
  credentials?: NewCredential[]
  /** argon2id hash. Without one, the user cannot sign in with a password. */
  passwordHash?: string
  state?: IdentityState
  metadataPublic?: unknown
  metadataAdmin?: unknown
  verified: Verified
}

/** Whether an address counts as verified from the start. `assumed` means verified without a proof. */
export type Verified = boolean | 'assumed'

/** @throws when another identity has the identifier: see `violatedUniqueConstraint` */
export async function insertUser(tx: Executor, user: NewUser): Promise<User> {
  const identityId = newId()
  const [identity] = await tx
    .insert(identities)
    .values({
      id: identityId,
      schemaId,
      state: user.state ?? 'active',
      traits: user.traits,
      metadataPublic: user.metadataPublic ?? null,
      metadataAdmin: user.metadataAdmin ?? null,
    })
    .returning()
  if (!identity) throw new Error('the identity was not inserted')
  await tx.insert(credentials).values(
    identifiedBy.map((type) => ({
      identityId,
      type,
      config: type === 'password' && user.passwordHash ? { hashed_password: user.passwordHash } : {},
      version: type === 'password' ? 0 : 1,
    })),
  )
  for (const { type, config, identifiers } of user.credentials ?? []) {
    await saveConfig(tx, identityId, type, config)
    if (identifiers) await saveIdentifiers(tx, identityId, type, identifiers)
  }
  return { ...identity, ...(await insertAddresses(tx, identity, user.verified)) }
}

/** Inserts the identifiers and addresses that are derived from the traits. The identity must have none. */
export async function insertAddresses(
  tx: Executor,
  identity: Identity,
  verified: Verified,
): Promise<Pick<User, 'verifiable' | 'recovery'>> {
  const identityId = identity.id
  const value = normalizeIdentifier(getEmail(identity.traits))
  await tx.insert(credentialIdentifiers).values(identifiedBy.map((type) => ({ type, identifier: value, identityId })))
  const verifiable = await tx
    .insert(verifiableAddresses)
    .values({
      id: newId(),
      identityId,
      value,
      via: 'email',
      verified: verified !== false,
      status: verified ? 'completed' : 'pending',
      verifiedAt: verified ? new Date() : null,
      assumed: verified === 'assumed',
    })
    .returning()
  const recovery = await tx
    .insert(recoveryAddresses)
    .values({ id: newId(), identityId, value, via: 'email' })
    .returning()
  return { verifiable, recovery }
}

/**
 * Replaces the traits of an identity. A new e-mail address replaces identifiers and addresses.
 *
 * @returns the new address, undefined when the address did not change
 * @throws when another identity has it: see `violatedUniqueConstraint`
 */
export async function replaceTraits(
  tx: Executor,
  identity: Identity,
  traits: Traits,
  options: { verified: Verified },
): Promise<VerifiableAddress | undefined> {
  await tx.update(identities).set({ traits, updatedAt: new Date() }).where(eq(identities.id, identity.id))
  if (normalizeIdentifier(getEmail(traits)) === normalizeIdentifier(getEmail(identity.traits))) return undefined
  const its = eq(credentialIdentifiers.identityId, identity.id)
  await tx.delete(credentialIdentifiers).where(and(its, inArray(credentialIdentifiers.type, [...identifiedBy])))
  await tx.delete(verifiableAddresses).where(eq(verifiableAddresses.identityId, identity.id))
  await tx.delete(recoveryAddresses).where(eq(recoveryAddresses.identityId, identity.id))
  const { verifiable } = await insertAddresses(tx, { ...identity, traits }, options.verified)
  return verifiable[0]
}

/** Finds an address in normalized form. */
export async function findVerifiable(db: Executor, value: string): Promise<VerifiableAddress | undefined> {
  const [address] = await db
    .select()
    .from(verifiableAddresses)
    .where(and(eq(verifiableAddresses.via, 'email'), eq(verifiableAddresses.value, value)))
  return address
}

/** Marks an address as verified by its user. */
export async function verifyAddress(tx: Executor, addressId: string): Promise<void> {
  const at = new Date()
  await tx
    .update(verifiableAddresses)
    .set({ verified: true, status: 'completed', verifiedAt: at, assumed: false, updatedAt: at })
    .where(eq(verifiableAddresses.id, addressId))
}

/** Resets verifications that were only assumed. */
export async function resetAssumedVerifications(db: Executor): Promise<void> {
  await db
    .update(verifiableAddresses)
    .set({ verified: false, status: 'pending', verifiedAt: null, assumed: false, updatedAt: new Date() })
    .where(eq(verifiableAddresses.assumed, true))
}

/** The relations that make a `User` of an identity. */
export const withAddresses = { verifiable: true, recovery: true } as const

export async function findUser(db: Executor, identityId: string): Promise<User | undefined> {
  return db.query.identities.findFirst({ where: eq(identities.id, identityId), with: withAddresses })
}

/** The user that `identifier` belongs to, and the hash of their password. One indexed query. */
export async function findPasswordLogin(
  db: Executor,
  identifier: string,
): Promise<{ identityId: string; state: IdentityState; hash: string | undefined; verified: boolean } | undefined> {
  const [row] = await db
    .select({
      identityId: identities.id,
      state: identities.state,
      config: credentials.config,
      verified: verifiableAddresses.verified,
    })
    .from(credentialIdentifiers)
    .innerJoin(identities, eq(identities.id, credentialIdentifiers.identityId))
    .innerJoin(
      credentials,
      and(eq(credentials.identityId, credentialIdentifiers.identityId), eq(credentials.type, 'password')),
    )
    .leftJoin(
      verifiableAddresses,
      and(eq(verifiableAddresses.via, 'email'), eq(verifiableAddresses.value, credentialIdentifiers.identifier)),
    )
    .where(and(eq(credentialIdentifiers.type, 'password'), eq(credentialIdentifiers.identifier, identifier)))
  if (!row) return undefined
  const hash = row.config.hashed_password
  return {
    identityId: row.identityId,
    state: row.state,
    hash: typeof hash === 'string' ? hash : undefined,
    verified: row.verified === true,
  }
}

/** Replaces the hash of an unchanged password. A password that was changed in the meantime is kept. */
export async function replacePasswordHash(
  db: Executor,
  identityId: string,
  hash: { from: string; to: string },
): Promise<void> {
  await db
    .update(credentials)
    .set({ config: { hashed_password: hash.to }, updatedAt: new Date() })
    .where(
      and(
        eq(credentials.identityId, identityId),
        eq(credentials.type, 'password'),
        sql`${credentials.config} ->> 'hashed_password' = ${hash.from}`,
      ),
    )
}

/** Processes that cache identities receive this notification after the commit, so tokens of a disabled account end at once. */
export async function publishIdentity(tx: Executor, id: string): Promise<void> {
  await tx.execute(sql`select pg_notify('crux_identities', ${id})`)
}

import { and, asc, eq, gt, inArray, like, type SQL, sql } from 'drizzle-orm'
import type { Database, Executor } from '../db/database.ts'
import { credentialIdentifiers, credentials, identities } from '../db/schema.ts'
import { identifiedBy, normalizeIdentifier } from '../identities/identity-schema.ts'
import { publishIdentity, replaceTraits, type User, type Verified, withAddresses } from '../identities/store.ts'
import type { IdentityBody } from './identity-body.ts'

export interface Credential {
  type: string
  identifiers: string[]
  version: number
  createdAt: Date
  updatedAt: Date
}

export type ListFilter = { ids: string[] } | { identifier: string } | { similar: string } | undefined
export type ListPage = { size: number; after: string } | { size: number; offset: number }

/** Lists identities by id with one query per page. Filters by identifier use its index; "similar" is a substring search. */
export async function listUsers(database: Database, filter: ListFilter, page: ListPage): Promise<User[]> {
  const identifiers = (condition: SQL | undefined) =>
    database.db.select({ id: credentialIdentifiers.identityId }).from(credentialIdentifiers).where(condition)
  const conditions: SQL[] = []
  if (filter && 'ids' in filter) conditions.push(inArray(identities.id, filter.ids))
  if (filter && 'identifier' in filter) {
    const { type, identifier } = credentialIdentifiers
    const exact = and(inArray(type, [...identifiedBy]), eq(identifier, normalizeIdentifier(filter.identifier)))
    conditions.push(inArray(identities.id, identifiers(exact)))
  }
  if (filter && 'similar' in filter) {
    const pattern = `%${escapeLike(normalizeIdentifier(filter.similar))}%`
    conditions.push(inArray(identities.id, identifiers(like(credentialIdentifiers.identifier, pattern))))
  }
  if ('after' in page) conditions.push(gt(identities.id, page.after))
  return database.db.query.identities.findMany({
    where: and(...conditions),
    with: withAddresses,
    orderBy: asc(identities.id),
    limit: page.size,
    offset: 'offset' in page ? page.offset : 0,
  })
}

export async function countUsers(database: Database): Promise<number> {
  return database.db.$count(identities)
}

/** The credentials of identities without their secrets. The query does not select the secret column. */
export async function listCredentials(db: Executor, identityIds: string[]): Promise<Map<string, Credential[]>> {
  if (identityIds.length === 0) return new Map()
  const rows = await db
    .select({
      identityId: credentials.identityId,
      type: credentials.type,
      version: credentials.version,
      createdAt: credentials.createdAt,
      updatedAt: credentials.updatedAt,
      identifiers: sql<string[]>`coalesce(array_agg(${credentialIdentifiers.identifier})
        filter (where ${credentialIdentifiers.identifier} is not null), '{}')`,
    })
    .from(credentials)
    .leftJoin(
      credentialIdentifiers,
      and(
        eq(credentialIdentifiers.identityId, credentials.identityId),
        eq(credentialIdentifiers.type, credentials.type),
      ),
    )
    .where(inArray(credentials.identityId, identityIds))
    .groupBy(credentials.identityId, credentials.type)
    .orderBy(credentials.type)
  return Map.groupBy(rows, (row) => row.identityId)
}

/**
 * Stores the changes of an administrator. A new e-mail address replaces identifiers and addresses.
 *
 * @param options.verified whether a changed address counts as verified
 */
export async function updateUser(
  tx: Executor,
  user: User,
  change: Pick<IdentityBody, 'traits' | 'state' | 'metadataPublic' | 'metadataAdmin'>,
  options: { verified: Verified; passwordHash?: string },
): Promise<void> {
  const at = new Date()
  await tx
    .update(identities)
    .set({
      ...change,
      updatedAt: at,
      ...(change.state === user.state ? {} : { stateChangedAt: at }),
    })
    .where(eq(identities.id, user.id))
  if (options.passwordHash !== undefined)
    await tx
      .update(credentials)
      .set({ config: { hashed_password: options.passwordHash }, updatedAt: at })
      .where(and(eq(credentials.identityId, user.id), eq(credentials.type, 'password')))
  await replaceTraits(tx, user, change.traits, options)
  await publishIdentity(tx, user.id)
}

export async function deleteUser(tx: Executor, id: string): Promise<boolean> {
  const gone = await tx.delete(identities).where(eq(identities.id, id)).returning({ id: identities.id })
  await publishIdentity(tx, id)
  return gone.length > 0
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

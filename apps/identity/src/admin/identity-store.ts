import type { Database } from '@crux/postgres'
import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Executor } from '../db/executor.ts'
import { credentialIdentifiers, credentials, identities } from '../db/schema.ts'
import { normalizeIdentifier } from '../identities/identity-schema.ts'
import { type Person, publishIdentity, replaceTraits, type Verified } from '../identities/store.ts'
import { type PersonRow, personFromRow } from '../sessions/rows.ts'
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
export async function listPeople(database: Database, filter: ListFilter, page: ListPage): Promise<Person[]> {
  const values: unknown[] = [page.size]
  const parameter = (value: unknown) => `$${values.push(value)}`
  const conditions: string[] = []
  if (filter && 'ids' in filter) conditions.push(`i.id = any(${parameter(filter.ids)}::uuid[])`)
  if (filter && 'identifier' in filter)
    conditions.push(`i.id in (select identity_id from identity.credential_identifiers
      where type in ('password', 'code', 'webauthn') and identifier = ${parameter(normalizeIdentifier(filter.identifier))})`)
  if (filter && 'similar' in filter)
    conditions.push(`i.id in (select identity_id from identity.credential_identifiers
      where identifier like ${parameter(`%${escapeLike(normalizeIdentifier(filter.similar))}%`)})`)
  if ('after' in page) conditions.push(`i.id > ${parameter(page.after)}`)
  const offset = 'offset' in page ? `offset ${parameter(page.offset)}` : ''
  const { rows } = await database.pool.query<PersonRow>(
    `select row_to_json(i) as identity,
      coalesce((select json_agg(a order by a.id) from identity.verifiable_addresses a where a.identity_id = i.id), '[]') as verifiable,
      coalesce((select json_agg(a order by a.id) from identity.recovery_addresses a where a.identity_id = i.id), '[]') as recovery
     from identity.identities i
     ${conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`}
     order by i.id limit $1 ${offset}`,
    values,
  )
  return rows.map(personFromRow)
}

export async function countPeople(database: Database): Promise<number> {
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
export async function updatePerson(
  tx: Executor,
  person: Person,
  change: Pick<IdentityBody, 'traits' | 'state' | 'metadataPublic' | 'metadataAdmin'>,
  options: { verified: Verified; passwordHash?: string },
): Promise<void> {
  const { identity } = person
  const at = new Date()
  await tx
    .update(identities)
    .set({
      ...change,
      updatedAt: at,
      ...(change.state === identity.state ? {} : { stateChangedAt: at }),
    })
    .where(eq(identities.id, identity.id))
  if (options.passwordHash !== undefined)
    await tx
      .update(credentials)
      .set({ config: { hashed_password: options.passwordHash }, updatedAt: at })
      .where(and(eq(credentials.identityId, identity.id), eq(credentials.type, 'password')))
  await replaceTraits(tx, identity, change.traits, options)
  await publishIdentity(tx, identity.id)
}

export async function deletePerson(tx: Executor, id: string): Promise<boolean> {
  const gone = await tx.delete(identities).where(eq(identities.id, id)).returning({ id: identities.id })
  await publishIdentity(tx, id)
  return gone.length > 0
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&')
}

import type { Database } from '@crux/postgres'
import { eq, sql } from 'drizzle-orm'
import { newToken, sha256 } from '../crypto/secrets.ts'
import type { Executor } from '../db/executor.ts'
import { newId } from '../db/ids.ts'
import { type AuthenticationMethod, sessionDevices, sessions } from '../db/schema.ts'
import type { RequestContext } from '../http/request-context.ts'
import { secondFactorSql } from '../identities/credentials.ts'
import type { Person } from '../identities/store.ts'
import { type PersonRow, personFromRow } from './rows.ts'

export type Session = typeof sessions.$inferSelect
export type Device = Pick<typeof sessionDevices.$inferSelect, 'id' | 'ipAddress' | 'userAgent' | 'location'>
export interface SessionDetails {
  session: Session
  person: Person
  devices: Device[]
}

export const sessionLifespanMs = 24 * 3600_000
/** The channel for processes that cache sessions: the payload is the id of a session that just ended. */
export const sessionChannel = 'crux_sessions'

/** How a user has authenticated; `provider` is set for a provider account. */
export interface Proven {
  method: string
  provider?: string
}

/** Creates a session. The token is returned once and stored only as a hash. */
export async function openSession(
  tx: Executor,
  ctx: RequestContext,
  identityId: string,
  proven: Proven,
): Promise<{ token: string; session: Session; devices: Device[] }> {
  const token = newToken('ory_st_')
  const at = new Date()
  const [session] = await tx
    .insert(sessions)
    .values({
      id: newId(),
      identityId,
      tokenHash: sha256(token),
      aal: 'aal1',
      authenticationMethods: [methodEntry(proven, 'aal1', at)],
      authenticatedAt: at,
      issuedAt: at,
      expiresAt: new Date(at.getTime() + sessionLifespanMs),
    })
    .returning()
  if (!session) throw new Error('the session was not inserted')
  const devices = await tx
    .insert(sessionDevices)
    .values({ id: newId(), sessionId: session.id, ipAddress: ctx.clientAddress, userAgent: ctx.userAgent })
    .returning()
  return { token, session, devices }
}

/** Records that the user has authenticated again. */
export async function refreshSession(tx: Executor, session: Session, proven: Proven): Promise<Session> {
  const at = new Date()
  const entry = methodEntry(proven, 'aal1', at)
  const [refreshed] = await tx
    .update(sessions)
    .set({
      authenticatedAt: at,
      authenticationMethods: [...session.authenticationMethods, entry],
      updatedAt: at,
    })
    .where(eq(sessions.id, session.id))
    .returning()
  return refreshed ?? session
}

/**
 * Records that the user has proven a second factor.
 *
 * @param options.fresh counts the first factor as proven again, as after a sign-in; not when a factor is only added
 */
export async function upgradeSessionAal(
  tx: Executor,
  session: Session,
  method: string,
  options: { fresh?: boolean } = {},
): Promise<Session> {
  const at = new Date()
  const entry = methodEntry({ method }, 'aal2', at)
  const [raised] = await tx
    .update(sessions)
    .set({
      aal: 'aal2',
      ...(options.fresh ? { authenticatedAt: at } : {}),
      authenticationMethods: [...session.authenticationMethods, entry],
      updatedAt: at,
    })
    .where(eq(sessions.id, session.id))
    .returning()
  return raised ?? session
}

export function methodEntry({ method, provider }: Proven, aal: 'aal1' | 'aal2', at: Date): AuthenticationMethod {
  return { method, aal, completed_at: at.toISOString(), provider }
}

/** The active session of a token, with the complete answer of whoami: one indexed query. */
export async function findSession(
  database: Database,
  token: string,
): Promise<(SessionDetails & { secondFactor: boolean }) | undefined> {
  const { rows } = await database.pool.query<PersonRow & SessionRow & { second_factor: boolean }>({
    name: 'session.by-token',
    text: findSessionSql,
    values: [sha256(token)],
  })
  const row = rows[0]
  return (
    row && {
      session: sessionFromRow(row),
      person: personFromRow(row),
      devices: devicesFromRow(row),
      secondFactor: row.second_factor,
    }
  )
}

/** Whether a token was ever issued, even if its session ended. */
export async function isKnownToken(database: Database, token: string): Promise<boolean> {
  const rows = await database.db
    .select({ id: sessions.id })
    .from(sessions)
    .where(eq(sessions.tokenHash, sha256(token)))
  return rows.length > 0
}

/**
 * Lists sessions, the newest first.
 *
 * @param filter.active true for active sessions, false for the others
 * @param filter.after the id of the last session of the previous page
 */
export async function listSessions(
  database: Database,
  filter: { identityId?: string; except?: string; active?: boolean; after?: string },
  page: { size: number; offset: number },
): Promise<{ entries: { session: Session; devices: Device[] }[]; total: number }> {
  const values: unknown[] = []
  const parameter = (value: unknown) => `$${values.push(value)}`
  const conditions = ['true']
  if (filter.identityId !== undefined) conditions.push(`s.identity_id = ${parameter(filter.identityId)}`)
  if (filter.except !== undefined) conditions.push(`s.id <> ${parameter(filter.except)}`)
  if (filter.active !== undefined) conditions.push(`${filter.active ? '' : 'not '}(s.active and s.expires_at > now())`)
  const counted = database.pool.query<{ total: number }>(
    `select count(*)::int as total from identity.sessions s where ${conditions.join(' and ')}`,
    [...values],
  )
  if (filter.after !== undefined) conditions.push(`s.id < ${parameter(filter.after)}`)
  const listed = database.pool.query<SessionRow>(
    `select ${sessionColumns}, ${devicesJson} as devices from identity.sessions s where ${conditions.join(' and ')}
     order by s.id desc limit ${parameter(page.size)} offset ${parameter(page.offset)}`,
    values,
  )
  const [{ rows: counts }, { rows }] = await Promise.all([counted, listed])
  return {
    entries: rows.map((row) => ({ session: sessionFromRow(row), devices: devicesFromRow(row) })),
    total: counts[0]?.total ?? 0,
  }
}

/** The selection of the sessions to end. */
export type SessionSelector =
  | { id: string; ofIdentity?: string }
  | { ofIdentity: string; except?: string }
  | { tokenHash: Buffer }

/**
 * Ends sessions and, with the same commit, notifies every process that caches them.
 *
 * @returns how many were still active
 */
export async function endSessions(tx: Executor, which: SessionSelector): Promise<number> {
  const conditions = [sql`active`]
  if ('tokenHash' in which) conditions.push(sql`token_hash = ${which.tokenHash}`)
  if ('id' in which) conditions.push(sql`id = ${which.id}`)
  if ('ofIdentity' in which && which.ofIdentity) conditions.push(sql`identity_id = ${which.ofIdentity}`)
  if ('except' in which && which.except) conditions.push(sql`id <> ${which.except}`)
  const result = await tx.execute(sql`
    with ended as (
      update identity.sessions set active = false, updated_at = now()
      where ${sql.join(conditions, sql` and `)} returning id)
    select pg_notify(${sessionChannel}, id::text) from ended`)
  return result.rowCount ?? 0
}

export async function findSessionById(db: Executor, id: string): Promise<Session | undefined> {
  const rows = await db.select().from(sessions).where(eq(sessions.id, id))
  return rows[0]
}

interface SessionRow {
  id: string
  identity_id: string
  token_hash: Buffer
  active: boolean
  aal: string
  authentication_methods: AuthenticationMethod[]
  authenticated_at: Date
  issued_at: Date
  expires_at: Date
  created_at: Date
  updated_at: Date
  devices: { id: string; ip_address: string; user_agent: string; location: string }[]
}

function sessionFromRow(row: SessionRow): Session {
  return {
    id: row.id,
    identityId: row.identity_id,
    tokenHash: row.token_hash,
    active: row.active,
    aal: row.aal,
    authenticationMethods: row.authentication_methods,
    authenticatedAt: row.authenticated_at,
    issuedAt: row.issued_at,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

function devicesFromRow(row: SessionRow): Device[] {
  return row.devices.map(({ id, ip_address, user_agent, location }) => ({
    id,
    ipAddress: ip_address,
    userAgent: user_agent,
    location,
  }))
}

/** The columns are explicit instead of `*`, because a later version that adds a column must not break the prepared statements of this one. */
const sessionColumns = `s.id, s.identity_id, s.token_hash, s.active, s.aal, s.authentication_methods, s.authenticated_at,
  s.issued_at, s.expires_at, s.created_at, s.updated_at`

const devicesJson = `coalesce((select json_agg(d order by d.id) from identity.session_devices d where d.session_id = s.id), '[]')`

const findSessionSql = `
  select ${sessionColumns}, ${devicesJson} as devices, row_to_json(i) as identity,
    coalesce((select json_agg(a order by a.id) from identity.verifiable_addresses a where a.identity_id = i.id), '[]') as verifiable,
    coalesce((select json_agg(a order by a.id) from identity.recovery_addresses a where a.identity_id = i.id), '[]') as recovery,
    ${secondFactorSql('i.id')} as second_factor
  from identity.sessions s join identity.identities i on i.id = s.identity_id
  where s.token_hash = $1 and s.active and s.expires_at > now() and i.state = 'active'`

import { and, asc, desc, eq, gt, lt, ne, not, sql } from 'drizzle-orm'
import { newToken, sha256 } from '../crypto/secrets.ts'
import type { Database, Executor } from '../db/database.ts'
import { newId } from '../db/ids.ts'
import { type AuthenticationMethod, sessionDevices, sessions } from '../db/schema.ts'
import type { OffsetPage } from '../http/pages.ts'
import type { RequestContext } from '../http/request-context.ts'
import { hasSecondFactor } from '../identities/credentials.ts'
import { type User, withAddresses } from '../identities/store.ts'

export type Session = typeof sessions.$inferSelect
export type Device = Pick<typeof sessionDevices.$inferSelect, 'id' | 'ipAddress' | 'userAgent' | 'location'>
export interface SessionDetails extends Session {
  user: User
  devices: Device[]
}
export type OpenedSession = Omit<SessionDetails, 'user'> & { token: string }

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
): Promise<OpenedSession> {
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
  return { ...session, token, devices }
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

/** What clients see of a session beside its own columns. */
const withDetails = { user: { with: withAddresses }, devices: { orderBy: asc(sessionDevices.id) } } as const

const isActive = and(sessions.active, gt(sessions.expiresAt, sql`now()`)) ?? sql`true`

/** One indexed query with the complete answer of whoami. */
const prepareFindSession = (db: Database['db']) =>
  db.query.sessions
    .findFirst({
      where: and(eq(sessions.tokenHash, sql.placeholder('tokenHash')), isActive),
      with: withDetails,
      extras: { secondFactor: hasSecondFactor(sessions.identityId).as('second_factor') },
    })
    .prepare('session.by-token')

/** Drizzle builds a statement with relations more slowly than PostgreSQL runs it, so each database has one for all requests. */
const findSessionStatements = new WeakMap<Database, ReturnType<typeof prepareFindSession>>()

/** The active session of a token. */
export async function findSession(
  database: Database,
  token: string,
): Promise<(SessionDetails & { secondFactor: boolean }) | undefined> {
  let statement = findSessionStatements.get(database)
  if (!statement) {
    statement = prepareFindSession(database.db)
    findSessionStatements.set(database, statement)
  }
  const found = await statement.execute({ tokenHash: sha256(token) })
  return found?.user.state === 'active' ? found : undefined
}

/** Whether a token was ever issued, even if its session ended. */
export async function isKnownToken({ db }: Database, token: string): Promise<boolean> {
  return (await db.$count(sessions, eq(sessions.tokenHash, sha256(token)))) > 0
}

/**
 * Lists sessions, the newest first.
 *
 * @param filter.active true for active sessions, false for the others
 * @param filter.after the id of the last session of the previous page
 */
export async function listSessions(
  { db }: Database,
  filter: { identityId?: string; except?: string; active?: boolean; after?: string },
  page: OffsetPage,
): Promise<{ entries: SessionDetails[]; total: number }> {
  const matches = and(
    filter.identityId === undefined ? undefined : eq(sessions.identityId, filter.identityId),
    filter.except === undefined ? undefined : ne(sessions.id, filter.except),
    filter.active === undefined ? undefined : filter.active ? isActive : not(isActive),
  )
  const [total, entries] = await Promise.all([
    db.$count(sessions, matches),
    db.query.sessions.findMany({
      where: and(matches, filter.after === undefined ? undefined : lt(sessions.id, filter.after)),
      with: withDetails,
      orderBy: desc(sessions.id),
      limit: page.size,
      offset: page.offset,
    }),
  ])
  return { entries, total }
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

export async function findSessionById(db: Executor, id: string): Promise<SessionDetails | undefined> {
  return db.query.sessions.findFirst({ where: eq(sessions.id, id), with: withDetails })
}

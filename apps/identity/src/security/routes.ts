import { and, desc, eq, lt } from 'drizzle-orm'
import type { App } from '../context.ts'
import { isUuid } from '../db/ids.ts'
import { securityLog } from '../db/schema.ts'
import { badRequest, noCredentials } from '../http/errors.ts'
import { linkTo, readSize } from '../http/pages.ts'
import type { Routes } from '../http/routes.ts'
import type { Visit } from '../http/visit.ts'
import { requireHighestAal } from '../sessions/aal.ts'
import { currentSession } from '../sessions/credentials.ts'
import { providerLabel } from '../sessions/wire.ts'

/** What happened to one's own account. The original has nothing like it. */
export function securityRoutes(app: App): Routes {
  return { '/sessions/security-log': { GET: (visit) => listEvents(app, visit) } }
}

async function listEvents(app: App, visit: Visit): Promise<unknown> {
  const current = await currentSession(app, visit)
  if (!current) throw noCredentials('No valid session cookie found.')
  requireHighestAal(app, current)
  const size = Math.min(readSize(visit.query('page_size')), 250)
  const after = visit.query('page_token') || undefined
  if (after !== undefined && !isUuid(after)) throw badRequest('The page token is not one of ours.')
  const rows = await app.database.db
    .select()
    .from(securityLog)
    .where(and(eq(securityLog.identityId, current.person.identity.id), after ? lt(securityLog.id, after) : undefined))
    .orderBy(desc(securityLog.id))
    .limit(size + 1)
  const shown = rows.slice(0, size)
  const last = shown.at(-1)?.id
  if (rows.length > size && last)
    visit.reply.header('link', linkTo(visit, 'next', { page_size: String(size), page_token: last }))
  return visit.reply.send(
    shown.map(({ id, event, details, ipAddress, userAgent, createdAt }) => ({
      id,
      event,
      details: { ...details, ...providerLabel(details, app) },
      ip_address: ipAddress,
      user_agent: userAgent,
      created_at: createdAt.toISOString(),
    })),
  )
}

import { and, desc, eq, lt } from 'drizzle-orm'
import type { App } from '../app/app.ts'
import { securityLog } from '../db/schema.ts'
import { linkTo, readIdToken, readSize } from '../http/pages.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { Routes } from '../http/routes.ts'
import { requireHighestAal, requireSession } from '../sessions/current.ts'
import { providerLabel } from '../sessions/wire.ts'

/** The security log of the current user. Ory Kratos has no such endpoint. */
export function securityRoutes(app: App): Routes {
  return { '/sessions/security-log': { GET: (ctx) => listEvents(app, ctx) } }
}

async function listEvents(app: App, ctx: RequestContext): Promise<unknown> {
  const current = await requireSession(app, ctx)
  requireHighestAal(app, current)
  const size = Math.min(readSize(ctx.query('page_size')), 250)
  const after = readIdToken(ctx)
  const rows = await app.database.db
    .select()
    .from(securityLog)
    .where(and(eq(securityLog.identityId, current.user.id), after ? lt(securityLog.id, after) : undefined))
    .orderBy(desc(securityLog.id))
    .limit(size + 1)
  const shown = rows.slice(0, size)
  const last = shown.at(-1)?.id
  if (rows.length > size && last)
    ctx.reply.header('link', linkTo(ctx, 'next', { page_size: String(size), page_token: last }))
  return ctx.reply.send(
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

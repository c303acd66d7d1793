import { z } from 'zod'
import type { App } from '../app/app.ts'
import { badRequest } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { Routes } from '../http/routes.ts'
import { recordSecurityEvent } from '../security/events.ts'
import { requireUser } from './identities.ts'
import { parseJson } from './identity-body.ts'

const name = z.string().max(200)
const what = z.discriminatedUnion('event', [
  z.object({ event: z.literal('token-created'), name, scope: z.string().max(20) }),
  z.object({ event: z.literal('token-revoked'), name }),
  z.object({ event: z.literal('tokens-revoked'), count: z.int().min(1) }),
])
const Entry = z.object({ id: z.uuid(), what, ip_address: z.string().max(64), user_agent: z.string().max(512) })

/** Lets the server add entries to the security log of a user. Ory Kratos has no such endpoint. */
export function securityLogRoutes(app: App): Routes {
  return { '/admin/identities/:id/security-log': { POST: (ctx) => recordEvent(app, ctx) } }
}

/** The server repeats a report when it got no answer, so two reports with the same `id` count as one event. */
async function recordEvent(app: App, ctx: RequestContext): Promise<unknown> {
  const user = await requireUser(app, ctx)
  const read = Entry.safeParse(parseJson(ctx.request.body))
  if (!read.success) throw badRequest(`The entry is not valid: ${z.prettifyError(read.error)}`)
  const { id, ip_address: clientAddress, user_agent: userAgent } = read.data
  await app.database.transaction((tx) =>
    recordSecurityEvent(tx, app, { clientAddress, userAgent }, user, read.data.what, { id }),
  )
  app.outbox.wake()
  return ctx.reply.code(204).send()
}

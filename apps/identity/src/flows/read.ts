import type { App } from '../app/app.ts'
import { newId } from '../db/ids.ts'
import type { FlowKind } from '../db/schema.ts'
import { findError } from '../http/error-page.ts'
import { flowExpired, IdentityError, noSuchRow } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import { requireOwnFlow } from './answer.ts'
import { showFlow } from './flow.ts'
import { findFlow } from './store.ts'
import { isExpired } from './submission.ts'

/** Returns a flow to the page that renders it. A browser flow is shown only to its own browser. */
export async function getFlow(app: App, ctx: RequestContext, kind: FlowKind): Promise<unknown> {
  const flow = await findFlow(app.database.db, kind, ctx.query('id'))
  if (!flow) throw noSuchRow()
  requireOwnFlow(ctx, flow)
  if (isExpired(flow)) {
    // Ory Kratos omits the id here.
    if (kind === 'verification' || (kind === 'recovery' && flow.type === 'browser'))
      throw new IdentityError(410, { reason: `The ${kind} flow has expired.` })
    throw flowExpired(flow.expiresAt)
  }
  return ctx.reply.send(showFlow(flow, app, flow.type === 'browser' ? ctx.csrfToken : undefined))
}

/** Returns a stored error to the error page. Any client that knows the id may read it. */
export async function getError(app: App, ctx: RequestContext): Promise<unknown> {
  const id = ctx.query('id')
  if (id === 'stub:500') return ctx.reply.send(sampleError())
  const stored = await findError(app.database.db, id)
  if (!stored) throw noSuchRow()
  return ctx.reply.send({
    id: stored.id,
    error: stored.error,
    created_at: stored.createdAt.toISOString(),
    updated_at: stored.updatedAt.toISOString(),
  })
}

function sampleError() {
  const at = new Date().toISOString()
  const { error } = new IdentityError(500, { reason: 'This is a stub error.' }).toBody()
  return { id: newId(), error, created_at: at, updated_at: at }
}

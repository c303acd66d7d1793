import { randomUUID } from 'node:crypto'
import { getField, isUuid } from '@crux/service-kit'
import { eq } from 'drizzle-orm'
import { type App, uiUrl } from '../app/app.ts'
import { type Executor, withoutValues } from '../db/database.ts'
import { errors } from '../db/schema.ts'
import { IdentityError } from './errors.ts'
import type { RequestContext } from './request-context.ts'

/**
 * Answers with an error. A browser that cannot read JSON is redirected to the error page, which fetches the stored error.
 *
 * @param asJson set where every client gets JSON
 */
export async function answerError(app: App, ctx: RequestContext, error: unknown, asJson: boolean): Promise<unknown> {
  const known = error instanceof IdentityError ? error : unexpected(app, ctx, error)
  for (const [name, value] of Object.entries(known.headers)) ctx.reply.header(name, value)
  if (asJson || ctx.wantsJson || known.code >= 500) return ctx.reply.code(known.code).send(known.toBody())
  return ctx.reply.redirect(uiUrl(app, 'error', { id: await storeError(app.database.db, known) }), 303)
}

function unexpected(app: App, ctx: RequestContext, error: unknown): IdentityError {
  // Errors of Fastify itself, such as a body above the limit or an unreadable header.
  const statusCode = getField(error, 'statusCode')
  if (statusCode === 413) return new IdentityError(413, { reason: 'A request may have at most 64 kB.', cause: error })
  if (typeof statusCode === 'number' && statusCode < 500) return new IdentityError(400, { cause: error })
  app.log.error({ err: withoutValues(error), requestId: ctx.request.id }, 'a request failed')
  return new IdentityError(500, { reason: `Request ${ctx.request.id}`, cause: error })
}

/** Stores an error for the error page of a browser that cannot read JSON. */
async function storeError(db: Executor, error: IdentityError): Promise<string> {
  const id = randomUUID()
  await db.insert(errors).values({ id, error: error.toBody().error })
  return id
}

export async function findError(db: Executor, id: unknown): Promise<typeof errors.$inferSelect | undefined> {
  if (!isUuid(id)) return undefined
  const [row] = await db.select().from(errors).where(eq(errors.id, id))
  return row
}

import { type App, type uiPaths, uiUrl } from '../app/app.ts'
import { withoutValues } from '../db/executor.ts'
import type { Flow } from '../db/flow-record.ts'
import { csrfHash } from '../http/csrf.ts'
import { csrfViolation, IdentityError } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { Person } from '../identities/store.ts'
import { showIdentity } from '../identities/wire.ts'
import { showFlow } from './flow.ts'
import { storeError } from './store.ts'

/**
 * Answers with a flow: as JSON to clients that read JSON, otherwise with a redirect to the page of the flow.
 *
 * @param options.person the user whose settings the flow shows
 * @param options.continueWith the next steps for the client
 * @param options.exchangeCode the code with which a native app gets its session; shown only in this answer
 * @param options.transientPayload the payload that the submit carried; it is returned and not stored
 */
export function answerFlow(
  app: App,
  ctx: RequestContext,
  flow: Flow,
  options: {
    status?: number
    redirectStatus?: number
    person?: Person
    continueWith?: unknown[]
    transientPayload?: unknown
    exchangeCode?: string
  } = {},
): unknown {
  if (flow.type === 'browser' && !ctx.wantsJson)
    return ctx.reply.redirect(uiUrl(app, pageOf(flow), { flow: flow.id }), options.redirectStatus ?? 303)
  const { person, continueWith = [], transientPayload, exchangeCode } = options
  return ctx.reply.code(options.status ?? 200).send({
    ...showFlow(flow, app, flow.type === 'browser' ? ctx.csrfToken : undefined),
    ...(person ? { identity: showIdentity(person, app.publicUrl) } : {}),
    ...(exchangeCode === undefined ? {} : { session_token_exchange_code: exchangeCode }),
    ...(transientPayload === undefined ? {} : { transient_payload: transientPayload }),
    ...(continueWith.length === 0 ? {} : { continue_with: continueWith }),
  })
}

/** A user whose provider did not return enough data completes the sign-up on a separate page. */
function pageOf({ kind, context }: Flow): keyof typeof uiPaths {
  return kind === 'registration' && context.methods?.oidc?.proven !== undefined ? 'registrationWithProvider' : kind
}

/** Refuses a flow of another browser, identified by the csrf cookie. */
export function requireOwnFlow(ctx: RequestContext, flow: Flow): void {
  if (flow.type !== 'browser' || flow.context.unbound) return
  if (!ctx.csrfToken || csrfHash(ctx.csrfToken) !== flow.csrfHash)
    throw csrfViolation('This page was opened by another browser, or its cookies have changed since.')
}

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
  const { statusCode } = error as { statusCode?: number }
  if (statusCode === 413) return new IdentityError(413, { reason: 'A request may have at most 64 kB.', cause: error })
  if (statusCode !== undefined && statusCode < 500) return new IdentityError(400, { cause: error })
  app.log.error({ err: withoutValues(error), requestId: ctx.request.id }, 'a request failed')
  return new IdentityError(500, { reason: `Request ${ctx.request.id}`, cause: error })
}

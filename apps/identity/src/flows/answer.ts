import { type App, type uiPaths, uiUrl } from '../app/app.ts'
import type { Flow } from '../db/flow-record.ts'
import { csrfHash } from '../http/csrf.ts'
import { csrfViolation } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { Person } from '../identities/store.ts'
import { showIdentity } from '../identities/wire.ts'
import { showFlow } from './flow.ts'

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

import { type App, type uiPaths, uiUrl } from '../app/app.ts'
import type { Flow } from '../db/schema.ts'
import { csrfHash } from '../http/csrf.ts'
import { csrfViolation, flowExpired } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { User } from '../identities/store.ts'
import { showIdentity } from '../identities/wire.ts'
import type { Message } from '../ui/messages.ts'
import { showFlow } from './flow.ts'
import { resolveReturnTo } from './return-to.ts'
import { updateFlow } from './store.ts'

/**
 * Answers with a flow: as JSON to clients that read JSON, otherwise with a redirect to the page of the flow.
 *
 * @param options.user the user whose settings the flow shows
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
    user?: User
    continueWith?: unknown[]
    transientPayload?: unknown
    exchangeCode?: string
  } = {},
): unknown {
  if (flow.type === 'browser' && !ctx.wantsJson)
    return ctx.reply.redirect(uiUrl(app, getPage(flow), { flow: flow.id }), options.redirectStatus ?? 303)
  const { user, continueWith = [], transientPayload, exchangeCode } = options
  return ctx.reply.code(options.status ?? 200).send({
    ...showFlow(flow, app, flow.type === 'browser' ? ctx.csrfToken : undefined),
    identity: user && showIdentity(user, app.publicUrl),
    session_token_exchange_code: exchangeCode,
    transient_payload: transientPayload,
    continue_with: continueWith.length === 0 ? undefined : continueWith,
  })
}

/** Shows messages for the form as a whole; the fields keep their values. */
export async function answerMessages(
  app: App,
  ctx: RequestContext,
  flow: Flow,
  messages: Message[],
  { active = flow.active, ...options }: { active?: string | null; redirectStatus?: number; user?: User } = {},
): Promise<unknown> {
  const nodes = flow.ui.nodes.map((node) => ({ ...node, messages: [] }))
  const changed = await updateFlow(app.database.db, flow, { active, ui: { ...flow.ui, messages, nodes } })
  return answerFlow(app, ctx, changed, { status: 400, ...options })
}

/** Continues with the flow that replaces one that has expired. */
export function answerExpired(app: App, ctx: RequestContext, flow: Flow, expiredAt: Date): unknown {
  if (flow.type === 'browser' && !ctx.wantsJson) return redirectToFlow(app, ctx, flow)
  throw flowExpired(expiredAt, flow.id)
}

/** Redirects a browser to the page of a flow. */
export function redirectToFlow(app: App, ctx: RequestContext, flow: Flow): unknown {
  return ctx.reply.redirect(uiUrl(app, getPage(flow), { flow: flow.id }), 303)
}

/** The address at which a browser continues after a flow. */
export function toTarget(app: App, { returnTo }: Flow): string {
  return resolveReturnTo(returnTo ?? undefined, app.consoleUrl) ?? `${app.consoleUrl}/`
}

/** The next step of a client after a change that started a verification. */
export function verificationStep(app: App, { id, type }: Flow, address: string | undefined) {
  const url = type === 'browser' ? uiUrl(app, 'verification', { flow: id }) : undefined
  return { action: 'show_verification_ui', flow: { id, verifiable_address: address, url } }
}

/** A user whose provider did not return enough data completes the sign-up on a separate page. */
function getPage({ kind, context }: Flow): keyof typeof uiPaths {
  return kind === 'registration' && context.methods?.oidc?.proven !== undefined ? 'registrationWithProvider' : kind
}

/** Refuses a flow of another browser, identified by the csrf cookie. */
export function requireOwnFlow(ctx: RequestContext, flow: Flow): void {
  if (flow.type !== 'browser' || flow.context.unbound) return
  if (!ctx.csrfToken || csrfHash(ctx.csrfToken) !== flow.csrfHash)
    throw csrfViolation('This page was opened by another browser, or its cookies have changed since.')
}

import { isUuid } from '@crux/service-kit'
import type { App } from '../app/app.ts'
import type { Flow, FlowKind } from '../db/schema.ts'
import { type Body, type Fields, readBody, textField } from '../http/body.ts'
import { matchesMask } from '../http/csrf.ts'
import { csrfViolation, flowParameterMissing, noSuchFlow, noSuchRow } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import { requireOwnFlow } from './answer.ts'
import { findFlow } from './store.ts'

/** A valid submit: its flow is active and belongs to the browser, and its fields could be parsed. */
export interface Submission {
  flow: Flow
  fields: Fields
  method: string
}

/** Finds the flow that the address of a request contains. */
export async function requireFlow(app: App, ctx: RequestContext, kind: FlowKind): Promise<Flow> {
  const id = ctx.query('flow')
  if (!isUuid(id)) throw flowParameterMissing()
  const flow = await findFlow(app.database.db, kind, id)
  if (!flow) throw kind === 'login' || kind === 'registration' ? noSuchRow() : noSuchFlow(kind)
  ctx.forApi = flow.type === 'api'
  return flow
}

/** Parses a submit. Returns a problem when the flow has to refuse it. */
export function readSubmission(ctx: RequestContext, flow: Flow): { submission: Submission } | { problem: string } {
  const browserSign = flow.type === 'api' ? signOfBrowser(ctx) : undefined
  if (browserSign)
    return {
      problem: `The request has the header "${browserSign}", so a browser made it, but this flow is one for API clients. It was blocked to prevent Cross-Site-Request-Forgery.`,
    }
  const body: Body = readBody(ctx.request.body, ctx.request.headers['content-type'])
  if (!body.ok) return { problem: body.reason }
  if (flow.type === 'browser' && !flow.context.unbound) {
    requireOwnFlow(ctx, flow)
    if (!matchesMask(body.fields.csrf_token, ctx.csrfToken))
      throw csrfViolation('The field csrf_token of the form is missing or not that of this browser.')
  }
  return { submission: { flow, fields: body.fields, method: textField(body.fields, 'method') } }
}

export function isExpired(flow: Flow): boolean {
  return flow.expiresAt.getTime() <= Date.now()
}

/** API flows have no csrf token, so requests with the cookies of a browser must not reach them. */
function signOfBrowser({ request }: RequestContext): string | undefined {
  if (request.headers.cookie !== undefined) return 'Cookie'
  return request.headers.origin === undefined ? undefined : 'Origin'
}

import { isUuid } from '@crux/service-kit'
import type { App } from '../app/app.ts'
import { uiUrl } from '../app/app.ts'
import { newToken } from '../crypto/secrets.ts'
import type { Flow } from '../db/schema.ts'
import { codeLifespanMs, newCode, storeCode } from '../flows/codes.ts'
import { recoveryLink } from '../flows/recovery.ts'
import { passedOnCodeForm, recoveryAddressForm } from '../flows/recovery-forms.ts'
import { resolveReturnTo } from '../flows/return-to.ts'
import { insertFlow } from '../flows/store.ts'
import { isObject } from '../http/body.ts'
import { badRequest, IdentityError } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { Routes } from '../http/routes.ts'
import { findUser } from '../identities/store.ts'
import { parseJson } from './identity-body.ts'

/** Recovery that an administrator starts for a user. The administrator passes on the code or link; no mail is sent. */
export function recoveryRoutes(app: App): Routes {
  return {
    '/admin/recovery/code': { POST: (ctx) => createCode(app, ctx) },
    '/admin/recovery/link': { POST: (ctx) => createLink(app, ctx) },
  }
}

async function createCode(app: App, ctx: RequestContext): Promise<unknown> {
  const missing = new IdentityError(404, {
    message: 'Unable to locate the resource',
    reason: 'There is no such identity.',
  })
  const flow = await insertPassedOn(app, ctx, { by: 'code', missing })
  const code = newCode()
  await keepSecret(app, flow, code)
  return ctx.reply.code(201).send({
    recovery_link: uiUrl(app, 'recovery', { flow: flow.id }),
    recovery_code: code,
    expires_at: flow.expiresAt.toISOString(),
  })
}

async function createLink(app: App, ctx: RequestContext): Promise<unknown> {
  const missing = badRequest('The requested identity id does not exist.')
  const flow = await insertPassedOn(app, ctx, { by: 'link', missing })
  const token = newToken('')
  await keepSecret(app, flow, token)
  return ctx.reply.send({
    recovery_link: recoveryLink(app, flow, token),
    expires_at: flow.expiresAt.toISOString(),
  })
}

const unitMs: Record<string, number> = { ns: 1e-6, us: 1e-3, ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }
const yearMs = 365 * 24 * 3_600_000

/** Durations are written like "12h" or "90s"; the default is one hour. */
function readLifespan(value: unknown): number {
  if (value === undefined || value === null || value === '') return codeLifespanMs
  const [, sign = '', count = '', unit = ''] = /^(-?)(\d{1,12})(ns|us|ms|s|m|h)$/.exec(String(value)) ?? []
  if (count === '') throw badRequest(`Unable to parse "expires_in" whose format should match "[0-9]+(ns|us|ms|s|m|h)"`)
  const ms = Number(count) * (unitMs[unit] ?? 0)
  if (sign !== '' || ms < 1) throw badRequest('Value from "expires_in" must result to a future time')
  if (ms > yearMs) throw badRequest('Value from "expires_in" may be a year at most')
  return ms
}

/** @param options.missing the error for an identity that does not exist */
async function insertPassedOn(
  app: App,
  ctx: RequestContext,
  { by, missing }: { by: 'code' | 'link'; missing: IdentityError },
): Promise<Flow> {
  const body = parseJson(ctx.request.body)
  if (!isObject(body)) throw badRequest('The body must be a JSON object.')
  const { flow_type: type = 'browser', identity_id: id } = body
  if (type !== 'browser' && type !== 'api') throw badRequest(`Value from "flow_type" is not valid: "${String(type)}"`)
  const returnTo = ctx.query('return_to') || null
  resolveReturnTo(returnTo ?? undefined, app.consoleUrl)
  const expiresAt = new Date(Date.now() + readLifespan(body.expires_in))
  if (id !== undefined && !isUuid(id)) throw badRequest(`Unable to decode the identity id: "${String(id)}"`)
  const user = id === undefined ? undefined : await findUser(app.database.db, id)
  if (!user) throw missing
  return insertFlow(app.database.db, {
    kind: 'recovery',
    type,
    requestUrl: ctx.url,
    returnTo,
    active: by,
    state: by === 'code' ? 'sent_email' : 'choose_method',
    identityId: user.id,
    csrfHash: null,
    context: { unbound: true, methods: { recovery: { by } } },
    expiresAt,
    ui: { method: 'POST', messages: [], nodes: by === 'code' ? passedOnCodeForm() : recoveryAddressForm() },
  })
}

/** The secret is passed on by an administrator and not through the mailbox, so it verifies no address. */
async function keepSecret(app: App, flow: Flow, secret: string): Promise<void> {
  const owner = { identityId: flow.identityId ?? undefined }
  await storeCode(app.database.db, app, flow, { secret, owner, expiresAt: flow.expiresAt })
}

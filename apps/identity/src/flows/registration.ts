import { awaitsCode, captchaRefusal } from '../captcha/gate.ts'
import { violatedUniqueConstraint } from '../db/database.ts'
import type { Flow, FlowContext } from '../db/schema.ts'
import { transientPayload } from '../http/body.ts'
import { newCsrfToken } from '../http/csrf.ts'
import { flowDisabled, sessionAlreadyAvailable } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import { insertUser, type User } from '../identities/store.ts'
import { showIdentity } from '../identities/wire.ts'
import { rememberDevice } from '../limits/known-devices.ts'
import { recordMail } from '../limits/mails.ts'
import { recordSecurityEvent } from '../security/events.ts'
import { currentSession } from '../sessions/current.ts'
import { type OpenedSession, openSession, type Proven } from '../sessions/store.ts'
import { showSession } from '../sessions/wire.ts'
import { type Message, messages } from '../ui/messages.ts'
import { csrfNode, type FieldMessages, noMessages, withMessages } from '../ui/nodes.ts'
import { answerExpired, answerFlow, answerMessages, toTarget, verificationStep } from './answer.ts'
import { traitInputs } from './forms.ts'
import { type FlowApp, findMethod } from './offered-methods.ts'
import { resolveReturnTo } from './return-to.ts'
import type { RegistrationOutcome } from './sign-in-method.ts'
import { type FlowForm, insertFlow, newFlow, updateFlow } from './store.ts'
import { isExpired, readSubmission, requireFlow } from './submission.ts'
import { completeTokenExchange, exchangeContext, startExchange } from './token-exchange.ts'
import { startVerification } from './verification.ts'

export async function initRegistration(app: FlowApp, ctx: RequestContext, type: Flow['type']): Promise<unknown> {
  requireOpenRegistration(app)
  const returnTo = resolveReturnTo(ctx.query('return_to'), app.consoleUrl)
  if (await currentSession(app, ctx)) {
    if (type === 'api' || ctx.wantsJson) throw sessionAlreadyAvailable('signing up is not possible')
    return ctx.reply.redirect(returnTo ?? `${app.consoleUrl}/`, 303)
  }
  const flow = await insertFlow(app.database.db, {
    ...newFlow(ctx, 'registration', { type, returnTo: ctx.query('return_to') || null }),
    ...(await registrationUi(app, type, { context: exchangeContext(ctx, type) })),
  })
  return answerFlow(app, ctx, flow, { exchangeCode: await startExchange(app.database.db, flow) })
}

/** Starts a flow for a browser that was redirected and has no account yet. */
export async function startRegistration(app: FlowApp, ctx: RequestContext, { returnTo }: Pick<Flow, 'returnTo'>) {
  const ui = await registrationUi(app, 'browser')
  return insertFlow(app.database.db, { ...newFlow(ctx, 'registration', { type: 'browser', returnTo }), ...ui })
}

export async function submitRegistration(app: FlowApp, ctx: RequestContext): Promise<unknown> {
  requireOpenRegistration(app)
  const flow = await requireFlow(app, ctx, 'registration')
  if (await currentSession(app, ctx)) {
    if (flow.type === 'browser' && !ctx.wantsJson) return ctx.reply.redirect(`${app.consoleUrl}/`, 302)
    throw sessionAlreadyAvailable('signing up is not possible')
  }
  if (isExpired(flow)) return expireRegistration(app, ctx, flow)
  const read = readSubmission(ctx, flow)
  if ('problem' in read) return refuseRegistration(app, ctx, flow, [messages.generic(read.problem)])
  const { fields } = read.submission
  const chosen = findMethod(app.methods.registration, read.submission)
  if (!chosen) return refuseRegistration(app, ctx, flow, [messages.registrationMethodUnknown()])

  if (chosen.id !== 'oidc' && !awaitsCode(flow, chosen.id)) {
    const refusal = await captchaRefusal(app, ctx, fields)
    if (refusal) return refuseRegistration(app, ctx, flow, [refusal])
  }

  // The attempt is counted before it is made, because the answer reveals whether an address is taken.
  await app.limiter.take('client', ctx.clientAddress)
  const outcome = await chosen.check(app, ctx, { flow, fields })
  switch (outcome.kind) {
    case 'proven':
      return completeRegistration(app, ctx, flow, { ...outcome, method: chosen.id })
    case 'refused':
      await app.limiter.refund('client', ctx.clientAddress)
      return answerRefusal(app, ctx, flow, outcome)
    case 'expired':
      return expireRegistration(app, ctx, { ...flow, expiresAt: outcome.at })
    case 'continued': {
      await app.limiter.refund('client', ctx.clientAddress)
      const changed = await updateFlow(app.database.db, flow, outcome.change)
      // The redirect status differs between a sent code and an error, as in Ory Kratos.
      if (!outcome.change.state) return answerFlow(app, ctx, changed, { status: outcome.status, redirectStatus: 302 })
      return answerFlow(app, ctx, changed, { status: outcome.status, transientPayload: transientPayload(fields) })
    }
    case 'answered':
      return outcome.answer
  }
}

/** Creates the identity, and a session if the method provides one. A taken address is reported in the flow. */
export async function completeRegistration(
  app: FlowApp,
  ctx: RequestContext,
  flow: Flow,
  outcome: RegistrationOutcome & { kind: 'proven' } & Proven,
): Promise<unknown> {
  const csrfToken = newCsrfToken()
  const how = { method: outcome.method, provider: outcome.provider }
  // A browser returned from a provider on behalf of an app that waits for its code.
  const arrived = flow.context.exchanges === true && ctx.request.method === 'GET'
  const verified = outcome.verified || (app.assumesAddresses && 'assumed')
  let made: CreatedIdentity
  try {
    made = await app.database.transaction(async (tx) => {
      let user = await insertUser(tx, { ...outcome, verified })
      await recordSecurityEvent(tx, app, ctx, user, { event: 'signed-up', ...how })
      const opened = outcome.session && !arrived ? await openSession(tx, ctx, user.id, how) : undefined
      const address = user.verifiable[0]
      let verification: Flow | undefined
      if (!verified && address && app.verifiesAddresses) {
        const started = await startVerification(tx, app, { from: flow, address, csrfToken })
        verification = started.flow
        user = { ...user, verifiable: [started.address] }
      }
      return { user, opened, verification }
    })
  } catch (error) {
    if (violatedUniqueConstraint(error) === undefined) throw error
    const form = await registrationUi(app, flow.type)
    const restarted = await updateFlow(app.database.db, flow, { state: 'choose_method' })
    return answerUi(app, ctx, restarted, form, [messages.identifierTaken()])
  }
  await app.limiter.refund('client', ctx.clientAddress)
  const address = made.user.verifiable[0]?.value
  if (made.verification && address) {
    await recordMail(app, ctx, address)
    app.outbox.wake()
  }
  if (arrived) {
    const { id } = made.user
    return ctx.reply.redirect(await completeTokenExchange(app, flow, { identityId: id, ...how }), 303)
  }
  return answerSuccess(app, ctx, flow, { ...made, csrfToken })
}

interface CreatedIdentity {
  user: User
  opened: OpenedSession | undefined
  verification: Flow | undefined
}

function answerSuccess(
  app: FlowApp,
  ctx: RequestContext,
  flow: Flow,
  made: CreatedIdentity & { csrfToken: Buffer },
): unknown {
  const { user, opened, verification } = made
  const shown = {
    ...(opened ? { session: showSession({ ...opened, user }, app) } : {}),
    identity: showIdentity(user, app.publicUrl),
  }
  const steps = verification ? [verificationStep(app, verification, user.verifiable[0]?.value)] : []
  if (flow.type === 'api') {
    if (!opened) return ctx.reply.send({ ...shown, continue_with: steps.length === 0 ? null : steps })
    const token = { action: 'set_ory_session_token', ory_session_token: opened.token }
    return ctx.reply.send({ session_token: opened.token, ...shown, continue_with: [...steps, token] })
  }
  if (opened || verification) ctx.rotateCsrfToken(made.csrfToken)
  if (opened) {
    ctx.setSessionCookie(opened.token, opened.expiresAt)
    rememberDevice(app.keys, ctx, user.id)
  }
  const target = toTarget(app, flow)
  if (!ctx.wantsJson) return ctx.reply.redirect(target, 303)
  const redirect = { action: 'redirect_browser_to', redirect_browser_to: target }
  return ctx.reply.send({ ...shown, continue_with: [redirect, ...steps] })
}

export function requireOpenRegistration(app: FlowApp): void {
  if (app.config.DISABLE_REGISTRATION) throw flowDisabled('Registration is not allowed because it was disabled.')
}

async function answerRefusal(
  app: FlowApp,
  ctx: RequestContext,
  flow: Flow,
  outcome: RegistrationOutcome & { kind: 'refused' },
) {
  const { found, traits } = outcome
  const form = await registrationUi(app, flow.type, { found, traits, context: flow.context })
  return answerUi(app, ctx, flow, form, found.get('') ?? [])
}

async function answerUi(app: FlowApp, ctx: RequestContext, flow: Flow, form: FlowForm, found: Message[]) {
  const changed = await updateFlow(app.database.db, flow, { ...form, ui: { ...form.ui, messages: found } })
  return answerFlow(app, ctx, changed, { status: 400, redirectStatus: 302 })
}

export function refuseRegistration(app: FlowApp, ctx: RequestContext, flow: Flow, found: Message[]): Promise<unknown> {
  return answerMessages(app, ctx, flow, found, { redirectStatus: 302 })
}

/** Starts a new flow with a message that the previous one expired. */
export async function expireRegistration(app: FlowApp, ctx: RequestContext, old: Flow): Promise<unknown> {
  const { ui, context } = await registrationUi(app, old.type)
  const flow = await insertFlow(app.database.db, {
    ...newFlow(ctx, 'registration', old),
    context,
    ui: { ...ui, messages: [messages.registrationExpired(old.expiresAt)] },
  })
  return answerExpired(app, ctx, flow, old.expiresAt)
}

/** The form of a flow: the traits and the inputs of each method. Methods may add data to the context. */
async function registrationUi(
  app: FlowApp,
  type: Flow['type'],
  options: { traits?: unknown; found?: FieldMessages; context?: FlowContext } = {},
): Promise<FlowForm> {
  const context = structuredClone(options.context ?? {})
  const nodes = await Promise.all(app.methods.registration.map((method) => method.nodes(app, { type, context })))
  const form = [...traitInputs('default', options.traits), csrfNode(), ...nodes.flat()]
  return { ui: { method: 'POST', messages: [], nodes: withMessages(form, options.found ?? noMessages) }, context }
}

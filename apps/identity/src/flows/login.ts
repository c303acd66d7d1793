import { awaitsCode, captchaRefusal, forgetFailures, hasFailedOften, recordFailure } from '../captcha/gate.ts'
import type { Flow } from '../db/schema.ts'
import { transientPayload } from '../http/body.ts'
import {
  aal1Required,
  badRequest,
  IdentityError,
  locationChangeRequired,
  sessionAlreadyAvailable,
} from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import { findUser } from '../identities/store.ts'
import { rememberDevice } from '../limits/known-devices.ts'
import { recordSecurityEvent } from '../security/events.ts'
import { signIn } from '../security/sign-in.ts'
import { currentSession, lacksSecondFactor, type Signed, secondFactorUrl } from '../sessions/current.ts'
import { type Proven, refreshSession, upgradeSessionAal } from '../sessions/store.ts'
import { showSession } from '../sessions/wire.ts'
import { type Message, messages } from '../ui/messages.ts'
import { csrfNode, type FieldMessages, noMessages, withMessages } from '../ui/nodes.ts'
import { answerExpired, answerFlow, answerMessages, toTarget } from './answer.ts'
import { loginInputs } from './forms.ts'
import { type FlowApp, findMethod } from './offered-methods.ts'
import { resolveReturnTo } from './return-to.ts'
import type { LoginContext, LoginOutcome } from './sign-in-method.ts'
import { type FlowForm, insertFlow, newFlow, updateFlow } from './store.ts'
import { isExpired, readSubmission, requireFlow } from './submission.ts'
import { completeTokenExchange, exchangeContext, startExchange } from './token-exchange.ts'

const signedInReason = 'signing in is not possible. Did you forget `?refresh=true`?'

export async function initLogin(app: FlowApp, ctx: RequestContext, type: Flow['type']): Promise<unknown> {
  const returnTo = resolveReturnTo(ctx.query('return_to'), app.consoleUrl)
  const aal = ctx.query('aal') || 'aal1'
  if (aal !== 'aal1' && aal !== 'aal2')
    throw badRequest(`Unable to parse the parameter aal: expected one of [aal1, aal2] but got ${aal}`)
  const session = await currentSession(app, ctx)
  if (!session && aal === 'aal2') throw aal1Required()
  const refresh = session !== undefined && ctx.query('refresh') === 'true'
  if (session && !refresh && (aal === 'aal1' || session.aal === 'aal2')) {
    if (type === 'api' || ctx.wantsJson) throw sessionAlreadyAvailable(signedInReason)
    return ctx.reply.redirect(returnTo ?? `${app.consoleUrl}/`, 303)
  }
  const context = { requestedAal: aal, refresh, ...exchangeContext(ctx, type) }
  const flow = await insertFlow(app.database.db, {
    ...newFlow(ctx, 'login', { type, returnTo: ctx.query('return_to') || null }),
    ...(await loginUi(app, { type, aal, refresh, session, context })),
  })
  return answerFlow(app, ctx, flow, { exchangeCode: await startExchange(app.database.db, flow) })
}

/** Starts a flow for a browser that was redirected and has to sign in. */
export async function startLogin(app: FlowApp, ctx: RequestContext, { returnTo }: Pick<Flow, 'returnTo'>) {
  const ui = await loginUi(app, { type: 'browser', aal: 'aal1', refresh: false, session: undefined, context: {} })
  return insertFlow(app.database.db, { ...newFlow(ctx, 'login', { type: 'browser', returnTo }), ...ui })
}

export async function submitLogin(app: FlowApp, ctx: RequestContext): Promise<unknown> {
  const flow = await requireFlow(app, ctx, 'login')
  if (isExpired(flow)) return expireLogin(app, ctx, flow)
  const session = await currentSession(app, ctx)
  const { refresh = false, requestedAal } = flow.context
  if (!session && requestedAal === 'aal2') throw aal1Required()
  if (session && !refresh && (requestedAal !== 'aal2' || session.aal === 'aal2')) {
    if (flow.type === 'browser' && !ctx.wantsJson) return ctx.reply.redirect(`${app.consoleUrl}/`, 303)
    return answerMessages(app, ctx, flow, [messages.generic(`There is a valid session, so ${signedInReason}`)])
  }
  const read = readSubmission(ctx, flow)
  if ('problem' in read) return answerMessages(app, ctx, flow, [messages.generic(read.problem)])
  const { fields } = read.submission
  const chosen = findMethod(app.methods.login, read.submission)
  if (!chosen?.aals.includes(requestedAal === 'aal2' ? 'aal2' : 'aal1'))
    return answerMessages(app, ctx, flow, [messages.loginMethodUnknown()])

  const guarded = !session && (chosen.id === 'password' || chosen.id === 'code')
  if (guarded && !awaitsCode(flow, chosen.id) && (flow.context.captcha || (await hasFailedOften(app, fields)))) {
    const refusal = await captchaRefusal(app, ctx, fields)
    if (refusal) return askForCaptcha(app, ctx, flow, refusal)
  }
  const outcome = await chosen.check(app, ctx, { flow, fields, session })
  if (guarded && outcome.kind === 'proven') await forgetFailures(app, fields)
  if (guarded && isFailure(outcome)) await recordFailure(app, fields)
  switch (outcome.kind) {
    case 'proven': {
      const { identityId, aal = 'aal1' } = outcome
      return completeLogin(app, ctx, flow, { identityId, method: outcome.method ?? chosen.id, aal, session })
    }
    case 'refused':
      return refuseLogin(app, ctx, flow, { ...outcome, session })
    case 'expired':
      return expireLogin(app, ctx, { ...flow, expiresAt: outcome.at })
    case 'continued':
      return answerFlow(app, ctx, await updateFlow(app.database.db, flow, outcome.change), {
        status: outcome.status,
        ...(outcome.change.state ? { transientPayload: transientPayload(fields) } : {}),
      })
    case 'answered':
      return outcome.answer
  }
}

/** A wrong password or code counts as a failure; a missing field and a code that was just sent do not. */
function isFailure(outcome: LoginOutcome): boolean {
  const wrong = [messages.credentialsInvalid().id, messages.loginCodeInvalid().id]
  const said =
    outcome.kind === 'refused'
      ? outcome.found.get('')
      : outcome.kind === 'continued'
        ? outcome.change.ui?.messages
        : undefined
  return said?.some(({ id }) => wrong.includes(id)) ?? false
}

/** From now on, the form of this flow contains the captcha. */
async function askForCaptcha(app: FlowApp, ctx: RequestContext, flow: Flow, refusal: Message): Promise<unknown> {
  const changed = await updateFlow(app.database.db, flow, { context: { ...flow.context, captcha: true } })
  return answerMessages(app, ctx, changed, [refusal])
}

/** Creates a session from the result of a method, or refreshes or upgrades the current session. */
export async function completeLogin(
  app: FlowApp,
  ctx: RequestContext,
  flow: Flow,
  proven: Proven & { identityId: string; aal: 'aal1' | 'aal2'; session: Signed | undefined },
): Promise<unknown> {
  const { session: current, aal, method, provider } = proven
  const how = { method, provider }
  // A browser returned from a provider on behalf of an app that waits for its code.
  if (flow.context.exchanges && ctx.request.method === 'GET')
    return ctx.reply.redirect(await completeTokenExchange(app, flow, proven), 303)
  const continues = aal === 'aal2' || flow.context.refresh
  const kept = continues && current?.user.id === proven.identityId ? current : undefined
  // The flow requests a second factor only for the user of the session. Without a session there is nothing to upgrade.
  if (aal === 'aal2' && !kept) throw aal1Required()
  let signed: Signed | undefined
  if (kept) {
    // The answer contains the device again, without an id, because it is the same device.
    const id = '00000000-0000-0000-0000-000000000000'
    const again = { id, location: '', ipAddress: ctx.clientAddress, userAgent: ctx.userAgent }
    const session = await app.database.transaction(async (tx) => {
      await recordSecurityEvent(tx, app, ctx, kept.user, { event: 'confirmed', ...how })
      if (aal === 'aal2') return upgradeSessionAal(tx, kept, method, { fresh: true })
      return refreshSession(tx, kept, how)
    })
    signed = { ...kept, ...session, devices: [...kept.devices, again] }
  } else {
    const user = await findUser(app.database.db, proven.identityId)
    signed = user && (await signIn(app, ctx, user, how))
    if (!signed) throw new IdentityError(401, { reason: 'This account was deleted meanwhile.' })
  }
  return answerSignedIn(app, ctx, flow, signed, { kept: kept !== undefined })
}

function answerSignedIn(
  app: FlowApp,
  ctx: RequestContext,
  flow: Flow,
  signed: Signed,
  { kept }: { kept: boolean },
): unknown {
  const { token } = signed
  const shown = showSession(signed, app)
  const unfinished = lacksSecondFactor(signed)
  if (flow.type === 'api') {
    // The identity of the session is hidden until the second factor is proven.
    const session = unfinished ? { ...shown, identity: null } : shown
    return ctx.reply.send({ session_token: token, session, continue_with: null })
  }
  // A new session invalidates everything that was bound to the browser before.
  if (!kept) ctx.rotateCsrfToken()
  ctx.setSessionCookie(token, signed.expiresAt)
  if (unfinished) {
    const next = secondFactorUrl(app, flow.returnTo ?? undefined)
    if (ctx.wantsJson) throw locationChangeRequired(next)
    return ctx.reply.redirect(next, 303)
  }
  rememberDevice(app.keys, ctx, signed.user.id)
  const target = toTarget(app, flow)
  if (!ctx.wantsJson) return ctx.reply.redirect(target, 303)
  const continueWith = [{ action: 'redirect_browser_to', redirect_browser_to: target }]
  return ctx.reply.send({ session: shown, continue_with: continueWith })
}

/** Shows a refusal in the form of the flow, either at a field or for the form as a whole. */
export async function refuseLogin(
  app: FlowApp,
  ctx: RequestContext,
  flow: Flow,
  outcome: Omit<LoginOutcome & { kind: 'refused' }, 'kind'> & { session: Signed | undefined },
): Promise<unknown> {
  const { found, identifier, session } = outcome
  // After a code was sent, the form that requests it stays.
  if (flow.state === 'sent_email') return answerMessages(app, ctx, flow, found.get('') ?? [])
  const { ui, context } = await loginUi(app, { ...describeLogin(flow, session), identifier, found })
  const changed = await updateFlow(app.database.db, flow, {
    ui: { ...ui, messages: found.get('') ?? [] },
    context,
    ...(outcome.active ? { active: outcome.active } : {}),
  })
  return answerFlow(app, ctx, changed, { status: 400 })
}

/** Starts a new flow with a message that the previous one expired. */
export async function expireLogin(app: FlowApp, ctx: RequestContext, old: Flow): Promise<unknown> {
  const about = describeLogin(old, await currentSession(app, ctx))
  const { ui, context } = await loginUi(app, { ...about, context: { ...about.context, methods: {} } })
  const flow = await insertFlow(app.database.db, {
    ...newFlow(ctx, 'login', old),
    context,
    ui: { ...ui, messages: [messages.loginExpired(old.expiresAt)] },
  })
  return answerExpired(app, ctx, flow, old.expiresAt)
}

function describeLogin(flow: Flow, session: Signed | undefined): LoginContext {
  const { refresh = false, requestedAal } = flow.context
  return {
    type: flow.type,
    aal: requestedAal === 'aal2' ? 'aal2' : 'aal1',
    refresh,
    session,
    context: structuredClone(flow.context),
  }
}

/** The form of a flow: the shared inputs and those of each method. Methods may add data to the context. */
async function loginUi(
  app: FlowApp,
  about: LoginContext & { identifier?: string; found?: FieldMessages },
): Promise<FlowForm> {
  const { aal, refresh, type, context, identifier, found = noMessages } = about
  const offered = app.methods.login.filter(({ aals }) => aals.includes(aal))
  const ofMethods = (await Promise.all(offered.map((method) => method.nodes(app, about)))).flat()
  const autocomplete = offered.map((method) => method.autocomplete?.(app, about)).find((value) => value !== undefined)
  const shared = aal === 'aal1' ? loginInputs(identifier, autocomplete) : [csrfNode()]
  // An API client without a second factor gets an empty form, as in Ory Kratos.
  const nodes = aal === 'aal2' && type === 'api' && ofMethods.length === 0 ? [] : [...shared, ...ofMethods]
  const atLevel = aal === 'aal2' ? [messages.loginSecondFactor()] : []
  const said = refresh ? [messages.loginReauthenticate()] : atLevel
  return { ui: { method: 'POST', messages: said, nodes: withMessages(nodes, found) }, context }
}

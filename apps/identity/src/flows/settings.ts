import { uiUrl } from '../app/app.ts'
import { violatedUniqueConstraint } from '../db/database.ts'
import type { Flow } from '../db/schema.ts'
import { transientPayload } from '../http/body.ts'
import {
  IdentityError,
  identityMismatch,
  noCredentials,
  noSuchRow,
  sessionInactive,
  sessionStale,
} from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import { findUser } from '../identities/store.ts'
import {
  currentSession,
  lacksSecondFactor,
  requireHighestAal,
  type Signed,
  secondFactorUrl,
} from '../sessions/current.ts'
import { upgradeSessionAal } from '../sessions/store.ts'
import { type Message, messages } from '../ui/messages.ts'
import { csrfNode, formMessage, type Node, withMessages } from '../ui/nodes.ts'
import { answerExpired, answerFlow, answerMessages, verificationStep } from './answer.ts'
import { type FlowApp, findMethod } from './offered-methods.ts'
import { resolveReturnTo } from './return-to.ts'
import type { SettingsAttempt, SettingsContext, SettingsMethod, SettingsOutcome } from './settings-method.ts'
import { type FlowForm, findFlow, insertFlow, newFlow, updateFlow } from './store.ts'
import { isExpired, readSubmission, requireFlow } from './submission.ts'
import { startVerification } from './verification.ts'

/** How long after signing in a user may change credentials. */
export const privilegedForMs = 5 * 60_000

const missing = 'A valid session cookie or session token is missing.'

export async function initSettings(app: FlowApp, ctx: RequestContext, type: Flow['type']): Promise<unknown> {
  const returnTo = ctx.query('return_to') || null
  resolveReturnTo(returnTo ?? undefined, app.consoleUrl)
  const session = await currentSession(app, ctx)
  if (!session) {
    if (type === 'api' || ctx.wantsJson) throw sessionInactive()
    const query = returnTo === null ? '' : `?${new URLSearchParams({ return_to: returnTo })}`
    return ctx.reply.redirect(`${app.publicUrl}/self-service/login/browser${query}`, 303)
  }
  if (lacksSecondFactor(session) && type === 'browser' && !ctx.wantsJson)
    return ctx.reply.redirect(secondFactorUrl(app, returnTo === null ? undefined : ctx.url), 303)
  requireHighestAal(app, session)
  const flow = await insertSettings(app, { type, session, requestUrl: ctx.url, returnTo, ctx })
  return answerFlow(app, ctx, flow, { user: session.user })
}

/** Inserts a settings flow of a user. Recovery uses it too and adds its own message. */
export async function insertSettings(
  app: FlowApp,
  options: {
    type: Flow['type']
    session: Signed
    requestUrl: string
    returnTo: string | null
    ctx: RequestContext
    said?: Message[]
  },
): Promise<Flow> {
  const { type, session, requestUrl, returnTo, ctx, said } = options
  const { user } = session
  return insertFlow(app.database.db, {
    ...newFlow(ctx, 'settings', { type, requestUrl, returnTo }),
    state: 'show_form',
    identityId: user.id,
    ...(await settingsUi(app, { type, session, user, context: {} }, { said })),
  })
}

/** Returns the flow to the page that renders it, in any browser of its user. */
export async function getSettings(app: FlowApp, ctx: RequestContext): Promise<unknown> {
  const session = await currentSession(app, ctx)
  if (!session) {
    if (!ctx.wantsJson) return ctx.reply.redirect(uiUrl(app, 'login'), 302)
    throw noCredentials(missing)
  }
  const flow = await findFlow(app.database.db, 'settings', ctx.query('id'))
  if (!flow) throw noSuchRow()
  ctx.forApi = flow.type === 'api'
  if (flow.identityId !== session.user.id) throw identityMismatch()
  ctx.forApi ||= lacksSecondFactor(session)
  requireHighestAal(app, session, uiUrl(app, 'settings', { flow: flow.id }))
  if (isExpired(flow)) throw new IdentityError(410, { reason: 'These settings have expired, please open them again.' })
  ctx.forApi = true
  return answerFlow(app, ctx, flow, { user: session.user })
}

export async function submitSettings(app: FlowApp, ctx: RequestContext): Promise<unknown> {
  const session = await currentSession(app, ctx)
  if (!session) {
    const flow = await findFlow(app.database.db, 'settings', ctx.query('flow'))
    if (flow?.type !== 'api' && !ctx.wantsJson) return ctx.reply.redirect(uiUrl(app, 'login'), 302)
    throw noCredentials(missing)
  }
  const flow = await requireFlow(app, ctx, 'settings')
  const { user } = session
  if (flow.identityId !== user.id) throw identityMismatch()
  if (lacksSecondFactor(session) && !ctx.wantsJson) return ctx.reply.redirect(secondFactorUrl(app, ctx.url), 303)
  requireHighestAal(app, session, ctx.url)
  if (isExpired(flow)) return expireSettings(app, ctx, flow, session)
  // After a user has authenticated again, they get the form and repeat the refused change.
  if (ctx.request.method === 'GET' && flow.type === 'browser' && !ctx.wantsJson) return answerFlow(app, ctx, flow)
  const read = readSubmission(ctx, flow)
  if ('problem' in read) return answerMessages(app, ctx, flow, [messages.generic(read.problem)], { user })
  const { fields } = read.submission
  const chosen = findMethod(app.methods.settings, read.submission)
  if (!chosen) return answerMessages(app, ctx, flow, [messages.settingsMethodUnknown()], { user })
  const attempt: SettingsAttempt = {
    ...{ ctx, flow, fields, session, user },
    type: flow.type,
    context: structuredClone(flow.context),
  }
  if ((chosen.privileged?.(attempt) ?? true) && !isFresh(session)) return refuseStale(app, ctx, flow)
  const outcome = await chosen.submit(app, attempt)
  switch (outcome.kind) {
    case 'answered':
      return outcome.answer
    case 'refused':
      return answerRefusal(app, chosen, attempt, outcome)
    case 'shown': {
      const changed = await updateFlow(app.database.db, flow, await settingsUi(app, attempt))
      return answerFlow(app, ctx, changed, { user, transientPayload: transientPayload(fields) })
    }
    case 'changed':
      return completeSettings(app, chosen, attempt, outcome)
  }
}

/** Writes a change and answers it. Changes that complete in another request (a linked provider account) use it too. */
export async function completeSettings(
  app: FlowApp,
  chosen: SettingsMethod,
  attempt: Omit<SettingsAttempt, 'fields'>,
  outcome: SettingsOutcome & { kind: 'changed' },
): Promise<unknown> {
  const { ctx, flow } = attempt
  let session = attempt.session
  let verification: Flow | undefined
  if (outcome.address !== undefined) await limitAddresses(app, attempt, outcome.address)
  try {
    verification = await app.database.transaction(async (tx) => {
      const address = await outcome.write(tx)
      if (outcome.proves !== undefined)
        session = { ...session, ...(await upgradeSessionAal(tx, session, outcome.proves)) }
      if (!address || address.verified || !app.verifiesAddresses) return undefined
      const csrfToken = flow.type === 'browser' ? ctx.ensureCsrfToken() : Buffer.alloc(0)
      return (await startVerification(tx, app, { from: flow, address, csrfToken })).flow
    })
  } catch (error) {
    if (violatedUniqueConstraint(error) === undefined) throw error
    const found = formMessage(messages.identifierTaken())
    return answerRefusal(app, chosen, attempt, { kind: 'refused', found, nodes: outcome.nodes })
  }
  app.outbox.wake()
  const user = (await findUser(app.database.db, session.user.id)) ?? session.user
  // The state of the methods belongs to the completed change; the next form starts without it.
  const about = { type: flow.type, user, session: { ...session, user }, context: { ...flow.context, methods: {} } }
  const changed = await updateFlow(app.database.db, flow, {
    state: 'success',
    ...(await settingsUi(app, about, { said: [messages.settingsSaved()] })),
  })
  return answerSuccess(app, ctx, changed, { session: about.session, verification, redirectTo: outcome.redirectTo })
}

/** A change of address reveals whether an address is taken and sends mail to it, so both are limited. */
async function limitAddresses(app: FlowApp, { ctx, user }: Pick<SettingsAttempt, 'ctx' | 'user'>, address: string) {
  await app.limiter.take('client', ctx.clientAddress)
  await app.limiter.take('account', `address of ${user.id}`)
  if (!app.verifiesAddresses) return
  // Counted per user, so that requests of other users do not block this one.
  await app.limiter.take('resend', `${address} by ${user.id}`)
  await app.limiter.take('mails', address)
}

function answerSuccess(
  app: FlowApp,
  ctx: RequestContext,
  flow: Flow,
  done: { session: Signed; verification: Flow | undefined; redirectTo: string | undefined },
): unknown {
  const { session, verification } = done
  const browser = flow.type === 'browser'
  if (browser) ctx.setSessionCookie(session.token, session.expiresAt)
  const asked = resolveReturnTo(flow.returnTo ?? undefined, app.consoleUrl)
  const target = done.redirectTo ?? asked ?? uiUrl(app, 'settings', { flow: flow.id })
  if (browser && !ctx.wantsJson) return ctx.reply.redirect(target, 303)
  const continueWith = [
    ...(verification ? [verificationStep(app, verification, session.user.verifiable[0]?.value)] : []),
    ...(browser ? [{ action: 'redirect_browser_to', redirect_browser_to: target }] : []),
  ]
  return answerFlow(app, ctx, flow, { user: session.user, continueWith })
}

/** Whether the user of a session authenticated recently enough to change credentials. */
export function isFresh(session: Signed): boolean {
  return session.authenticatedAt.getTime() + privilegedForMs > Date.now()
}

/** The user has to authenticate again and then repeats the change. */
export function refuseStale(app: FlowApp, ctx: RequestContext, flow: Flow): unknown {
  const back = `${app.publicUrl}/self-service/settings?${new URLSearchParams({ flow: flow.id })}`
  const query = new URLSearchParams({ refresh: 'true', return_to: back })
  const target = `${app.publicUrl}/self-service/login/browser?${query}`
  if (flow.type === 'browser' && !ctx.wantsJson) return ctx.reply.redirect(target, 303)
  throw sessionStale(target)
}

async function answerRefusal(
  app: FlowApp,
  chosen: SettingsMethod,
  attempt: Omit<SettingsAttempt, 'fields'>,
  outcome: SettingsOutcome & { kind: 'refused' },
): Promise<unknown> {
  const { ctx, flow, user } = attempt
  const { found } = outcome
  const { ui, context } = await settingsUi(app, attempt, {
    said: found.get('') ?? [],
    of: chosen,
    nodes: outcome.nodes,
  })
  const changed = await updateFlow(app.database.db, flow, {
    ui: { ...ui, nodes: withMessages(ui.nodes, found) },
    context,
  })
  return answerFlow(app, ctx, changed, { status: 400, user })
}

/** Starts a new flow with a message that the previous one expired. */
export async function expireSettings(app: FlowApp, ctx: RequestContext, old: Flow, session: Signed): Promise<unknown> {
  const { type, requestUrl, returnTo } = old
  const said = [messages.settingsExpired(old.expiresAt)]
  const flow = await insertSettings(app, { type, session, requestUrl, returnTo, ctx, said })
  return answerExpired(app, ctx, flow, old.expiresAt)
}

/** The form with the nodes of each method. Methods may add data to the context. */
async function settingsUi(
  app: FlowApp,
  about: SettingsContext,
  options: { said?: Message[]; of?: SettingsMethod; nodes?: Node[] } = {},
): Promise<FlowForm> {
  const groups: Node[][] = []
  for (const method of app.methods.settings)
    groups.push(method === options.of && options.nodes ? options.nodes : await method.nodes(app, about))
  const nodes = [csrfNode(), ...groups.flat()]
  return { ui: { method: 'POST', messages: options.said ?? [], nodes }, context: about.context }
}

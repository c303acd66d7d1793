import { isUuid } from '@crux/service-kit'
import type { Claims, Provider } from '../../app/services.ts'
import { sameSecret } from '../../crypto/secrets.ts'
import type { Flow } from '../../db/schema.ts'
import { answerFlow, answerMessages, requireOwnFlow } from '../../flows/answer.ts'
import { canLeave } from '../../flows/flow.ts'
import { completeLogin, expireLogin, refuseLogin, startLogin } from '../../flows/login.ts'
import type { FlowApp } from '../../flows/offered-methods.ts'
import {
  completeRegistration,
  expireRegistration,
  refuseRegistration,
  requireOpenRegistration,
  startRegistration,
} from '../../flows/registration.ts'
import { completeSettings, expireSettings, isFresh, refuseStale } from '../../flows/settings.ts'
import { refusedWith } from '../../flows/sign-in-method.ts'
import { findFlow, updateFlow } from '../../flows/store.ts'
import { isExpired } from '../../flows/submission.ts'
import { badRequest, identityMismatch, sessionInactive } from '../../http/errors.ts'
import type { RequestContext } from '../../http/request-context.ts'
import type { Routes } from '../../http/routes.ts'
import { findOwner } from '../../identities/credentials.ts'
import { normalizeIdentifier } from '../../identities/identity-schema.ts'
import { getEmail } from '../../identities/traits.ts'
import { recordSecurityEvent } from '../../security/events.ts'
import { currentSession, requireHighestAal, type Signed } from '../../sessions/current.ts'
import { type Message, messages } from '../../ui/messages.ts'
import { admit } from '../admission.ts'
import { factorMessages } from '../factor-messages.ts'
import { takeMemory } from '../memory.ts'
import { findLinks, oidcIdentifier, saveLinks } from './links.ts'
import { oidcSettings } from './methods.ts'
import { ProviderError } from './provider.ts'
import { type PendingSignIn, readPending } from './provider-redirect.ts'
import { registerWith } from './registration.ts'

export const oidcRoutes = (app: FlowApp): Routes => ({
  '/self-service/methods/oidc/callback/:provider': { GET: (ctx) => handleCallback(app, ctx) },
})

/** A browser returns from a provider. `state` contains the id of its flow, which only that browser may use. */
async function handleCallback(app: FlowApp, ctx: RequestContext): Promise<unknown> {
  const providerId = ctx.param('provider')
  const state = ctx.query('state') ?? ''
  const flow = await findStartedFlow(app, state.split('.')[0])
  const provider = app.providers.get(providerId)
  if (!flow || !provider) throw badRequest('This sign-in was not started here, or it is too old.')
  requireOwnFlow(ctx, flow)
  const session = await currentSession(app, ctx)
  if (isExpired(flow)) return expire(app, ctx, flow, session)
  const away = readPending(app, flow, await takeMemory(app, flow, 'oidc'))
  if (away?.provider !== providerId || !sameSecret(away.state, state))
    throw badRequest('This sign-in was completed already, or it was not started here.')

  const claims = await redeem(app, ctx, provider, away)
  if ('id' in claims) return refuse(app, ctx, flow, session, claims)
  const arrival = { flow, provider, claims, session, traits: away.traits }
  return flow.kind === 'settings' ? link(app, ctx, arrival) : signIn(app, ctx, arrival)
}

/** What a browser brings back from a provider. */
interface Arrival {
  flow: Flow
  provider: Provider
  claims: Claims
  session: Signed | undefined
  /** The traits that the user typed before. */
  traits: unknown
}

async function findStartedFlow(app: FlowApp, id: string | undefined): Promise<Flow | undefined> {
  if (!isUuid(id)) return undefined
  for (const kind of ['login', 'registration', 'settings'] as const) {
    const flow = await findFlow(app.database.db, kind, id)
    if (flow && canLeave(flow)) return flow
  }
  return undefined
}

/** The claims of the provider, or a message about what failed there. */
async function redeem(
  app: FlowApp,
  ctx: RequestContext,
  provider: Provider,
  away: PendingSignIn,
): Promise<Claims | Message> {
  const error = ctx.query('error')
  if (error !== undefined) {
    const reason = [error, ctx.query('error_description')].filter((part) => part !== undefined).join(': ')
    return messages.generic(`${provider.label} did not confirm the sign-in (${reason.slice(0, 300)}).`)
  }
  try {
    const { state, verifier, nonce } = away
    return await provider.complete({ url: new URL(ctx.url), state, verifier, nonce })
  } catch (err) {
    if (!(err instanceof ProviderError)) throw err
    app.log.warn({ err, provider: provider.id }, 'an identity provider did not confirm a sign-in')
    return messages.generic(err.message)
  }
}

/** Signs in a known user, and signs up an unknown one. */
async function signIn(app: FlowApp, ctx: RequestContext, arrival: Arrival): Promise<unknown> {
  const { flow, provider, claims, session } = arrival
  if (session && !flow.context.refresh) return ctx.reply.redirect(`${app.consoleUrl}/`, 303)
  const subject = { provider: provider.id, subject: claims.subject }
  const owner = await findOwner(app.database.db, 'oidc', oidcIdentifier(subject))
  if (owner !== undefined) {
    const outcome = await admit(app, owner, 'oidc')
    if (outcome.kind === 'proven')
      return completeLogin(app, ctx, flow, { ...outcome, method: 'oidc', provider: provider.id, aal: 'aal1', session })
    // A user who came from the sign-up gets the reason on the sign-in page.
    const login = flow.kind === 'login' ? flow : await startLogin(app, ctx, flow)
    return refuseLogin(app, ctx, login, { found: outcome.kind === 'refused' ? outcome.found : new Map(), session })
  }
  const notLinked = messages.generic(`This account of ${provider.label} is not linked to yours.`)
  return session ? refuse(app, ctx, flow, session, notLinked) : signUp(app, ctx, arrival)
}

async function signUp(app: FlowApp, ctx: RequestContext, arrival: Arrival): Promise<unknown> {
  const { flow: from, provider, claims, traits } = arrival
  requireOpenRegistration(app)
  const flow = from.kind === 'registration' ? from : await startRegistration(app, ctx, from)
  const outcome = registerWith(app, flow, provider, claims, traits)
  if (outcome.kind === 'continued')
    return answerFlow(app, ctx, await updateFlow(app.database.db, flow, outcome.change), { redirectStatus: 303 })
  if (outcome.kind !== 'proven') throw new Error(`signing up with a provider ended as ${outcome.kind}`)
  const taken = await findOwner(app.database.db, 'password', normalizeIdentifier(getEmail(outcome.traits)))
  if (taken !== undefined) {
    // An address does not prove ownership of another account. The owner links the provider in the settings after signing in.
    const login = await startLogin(app, ctx, flow)
    return refuseLogin(app, ctx, login, { ...refusedWith(factorMessages.takenElsewhere()), session: undefined })
  }
  await app.limiter.take('client', ctx.clientAddress)
  // An app that waits for its session knows only the flow that it started.
  const awaited = from.context.exchanges ? from : flow
  return completeRegistration(app, ctx, awaited, { ...outcome, method: 'oidc' })
}

/** Links the provider account to the signed-in user. */
async function link(app: FlowApp, ctx: RequestContext, { flow, provider, claims, session }: Arrival): Promise<unknown> {
  if (!session) throw sessionInactive()
  const { user } = session
  const identityId = user.id
  if (flow.identityId !== identityId) throw identityMismatch()
  requireHighestAal(app, session)
  if (!isFresh(session)) return refuseStale(app, ctx, flow)
  const added = { provider: provider.id, subject: claims.subject }
  const owner = await findOwner(app.database.db, 'oidc', oidcIdentifier(added))
  if (owner !== undefined && owner !== identityId)
    return refuse(app, ctx, flow, session, factorMessages.linkedElsewhere(provider.label))
  const attempt = { ctx, flow, session, user, type: flow.type, context: flow.context }
  return completeSettings(app, oidcSettings, attempt, {
    kind: 'changed',
    async write(tx) {
      const others = await findLinks(tx, identityId, { lock: true })
      await saveLinks(tx, identityId, [...others.filter((other) => other.provider !== provider.id), added])
      const factor = `an account of ${provider.label}`
      await recordSecurityEvent(tx, app, ctx, user, { event: 'factor-added', factor })
      return undefined
    },
  })
}

function refuse(app: FlowApp, ctx: RequestContext, flow: Flow, session: Signed | undefined, message: Message): unknown {
  if (flow.kind === 'registration') return refuseRegistration(app, ctx, flow, [message])
  if (flow.kind === 'login') return refuseLogin(app, ctx, flow, { ...refusedWith(message), session })
  if (!session) throw sessionInactive()
  if (flow.identityId !== session.user.id) throw identityMismatch()
  return answerMessages(app, ctx, flow, [message], { user: session.user })
}

function expire(app: FlowApp, ctx: RequestContext, flow: Flow, session: Signed | undefined): unknown {
  if (flow.kind === 'registration') return expireRegistration(app, ctx, flow)
  if (flow.kind === 'login') return expireLogin(app, ctx, flow)
  if (!session) throw sessionInactive()
  return expireSettings(app, ctx, flow, session)
}

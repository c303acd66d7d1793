import type { App } from '../../app/app.ts'
import type { Provider } from '../../app/services.ts'
import { newToken } from '../../crypto/secrets.ts'
import type { Flow } from '../../db/schema.ts'
import { refusedWith } from '../../flows/sign-in-method.ts'
import { updateFlow } from '../../flows/store.ts'
import { locationChangeRequired } from '../../http/errors.ts'
import type { RequestContext } from '../../http/request-context.ts'
import { messages } from '../../ui/messages.ts'
import { remember } from '../memory.ts'
import { ProviderError } from './provider.ts'

/** The state of a flow whose browser is at a provider. It is encrypted, because it suffices to complete the sign-in. */
export interface PendingSignIn {
  provider: string
  state: string
  verifier: string
  nonce: string
  /** The traits that the user typed before. */
  traits?: unknown
}

export const callbackUrl = (app: App, providerId: string) =>
  `${app.publicUrl}/self-service/methods/oidc/callback/${providerId}`

/** Redirects the browser to a provider for this flow. A single-page application gets the address in the answer (422). */
export async function sendToProvider(app: App, ctx: RequestContext, flow: Flow, provider: Provider, traits?: unknown) {
  // The id of the flow finds it again; the rest cannot be guessed.
  const state = newToken(`${flow.id}.`)
  let url: string
  try {
    const authorization = await provider.start({ redirectUri: callbackUrl(app, provider.id), state })
    url = authorization.url
    const started: PendingSignIn = {
      provider: provider.id,
      state,
      verifier: authorization.verifier,
      nonce: authorization.nonce,
      traits,
    }
    remember(flow.context, 'oidc', { started: app.keys.seal(JSON.stringify(started), `oidc ${flow.id}`) })
  } catch (err) {
    if (!(err instanceof ProviderError)) throw err
    app.log.warn({ err, provider: provider.id }, 'an identity provider cannot be reached')
    return refusedWith(messages.generic(err.message))
  }
  await updateFlow(app.database.db, flow, { context: flow.context, active: 'oidc' })
  if (ctx.wantsJson) throw locationChangeRequired(url)
  return { kind: 'answered' as const, answer: ctx.reply.redirect(url, 303) }
}

/** The stored `started` state, if it belongs to this flow and the browser returns its `state`. */
export function readPending(app: App, flow: Flow, memory: Record<string, unknown>): PendingSignIn | undefined {
  if (typeof memory.started !== 'string') return undefined
  return JSON.parse(app.keys.open(memory.started, `oidc ${flow.id}`))
}

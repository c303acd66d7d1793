import type { App } from '../../app/app.ts'
import { canLeave } from '../../flows/flow.ts'
import type { SettingsMethod } from '../../flows/settings-method.ts'
import { type LoginMethod, type RegistrationMethod, refusedWith } from '../../flows/sign-in-method.ts'
import { type Fields, textField } from '../../http/body.ts'
import { IdentityError } from '../../http/errors.ts'
import { recordSecurityEvent } from '../../security/events.ts'
import { type Message, messages } from '../../ui/messages.ts'
import { input, type Node } from '../../ui/nodes.ts'
import { factorMessages } from '../factor-messages.ts'
import { countFirstFactors, requireAnotherFirstFactor } from '../first-factors.ts'
import { findLinks, saveLinks } from './links.ts'
import { sendToProvider } from './provider-redirect.ts'
import { readProven, registerWith } from './registration.ts'

const type = 'oidc'

/** Signing in with a provider account, for browsers and for apps that wait for the code that a browser returns. */
export const oidcLogin: LoginMethod = {
  id: type,
  aals: ['aal1'],
  claims: chosen,
  async nodes(app, { type: flowType, refresh, session, context }) {
    if (!canLeave({ type: flowType, context })) return []
    const own = refresh && session ? await findLinks(app.database.db, session.identityId) : undefined
    return [...app.providers.values()]
      .filter(({ id }) => !refresh || own?.some(({ provider }) => provider === id))
      .map(({ id, label }) => button('provider', id, factorMessages.loginWith(label, id)))
  },
  async check(app, ctx, { flow, fields }) {
    requireProviders(app)
    const provider = app.providers.get(textField(fields, 'provider'))
    if (!provider || !canLeave(flow)) return refusedWith(messages.loginMethodUnknown())
    return sendToProvider(app, ctx, flow, provider)
  },
}

export const oidcRegistration: RegistrationMethod = {
  id: type,
  claims: chosen,
  nodes(app, { type: flowType, context }) {
    if (!canLeave({ type: flowType, context })) return []
    return [...app.providers.values()].map(({ id, label }) =>
      button('provider', id, factorMessages.registerWith(label, id)),
    )
  },
  async check(app, ctx, { flow, fields }) {
    requireProviders(app)
    const { traits } = fields
    const provider = app.providers.get(textField(fields, 'provider'))
    if (!provider || !canLeave(flow)) return { ...refusedWith(messages.registrationMethodUnknown()), traits }
    // A user who returned from the provider and has to complete the form does not go there again.
    const proven = readProven(app, flow, provider.id)
    if (proven) return registerWith(app, flow, provider, proven, traits)
    await app.limiter.refund('client', ctx.clientAddress)
    return { ...(await sendToProvider(app, ctx, flow, provider, traits)), traits }
  },
}

export const oidcSettings: SettingsMethod = {
  id: type,
  claims: (fields, method) => method === type || textField(fields, 'link') !== '' || textField(fields, 'unlink') !== '',
  async nodes(app, { type: flowType, user }) {
    if (flowType !== 'browser' || app.providers.size === 0) return []
    const links = await findLinks(app.database.db, user.id)
    const linked = (id: string) => links.some(({ provider }) => provider === id)
    const providers = [...app.providers.values()]
    const last = links.length > 0 && (await countFirstFactors(app, app.database.db, user.id)) < 2
    return [
      ...providers
        .filter(({ id }) => !linked(id))
        .map(({ id, label }) => button('link', id, factorMessages.link(label))),
      // A linked provider that is the last sign-in method has a disabled button.
      ...providers
        .filter(({ id }) => linked(id))
        .map(({ id, label }) =>
          input(type, 'unlink', 'submit', { value: id, disabled: last, label: factorMessages.unlink(label) }),
        ),
    ]
  },
  async submit(app, { ctx, flow, fields, user }) {
    requireProviders(app)
    const identityId = user.id
    const [link, unlink] = [textField(fields, 'link'), textField(fields, 'unlink')]
    if (link !== '' && unlink !== '')
      return refusedWith(messages.generic('Accounts cannot be linked and unlinked in the same request.'))
    const provider = app.providers.get(link || unlink)
    if (!provider || flow.type !== 'browser') return refusedWith(messages.generic('There is no such provider here.'))
    const links = await findLinks(app.database.db, identityId)
    const isLinked = links.some((other) => other.provider === provider.id)
    if (link !== '') {
      if (isLinked) return refusedWith(messages.generic(`An account of ${provider.label} is linked already.`))
      return sendToProvider(app, ctx, flow, provider)
    }
    if (!isLinked) return refusedWith(messages.generic(`No account of ${provider.label} is linked.`))
    if ((await countFirstFactors(app, app.database.db, identityId)) < 2)
      return refusedWith(messages.generic('This is your last way to sign in, so it cannot be removed.'))
    return {
      kind: 'changed',
      async write(tx) {
        await requireAnotherFirstFactor(tx, app, identityId)
        const now = await findLinks(tx, identityId, { lock: true })
        await saveLinks(
          tx,
          identityId,
          now.filter((other) => other.provider !== provider.id),
        )
        const factor = `an account of ${provider.label}`
        await recordSecurityEvent(tx, app, ctx, user, { event: 'factor-removed', factor })
        return undefined
      },
    }
  },
}

function button(name: string, value: string, label: Message): Node {
  return input(type, name, 'submit', { value, label })
}

/** The buttons of providers have a name of their own; a form may send `method` too. */
function chosen(fields: Fields, method: string): boolean {
  return method === type || (method === '' && textField(fields, 'provider') !== '')
}

/** @throws IdentityError 404 for a method that exists, but is not configured in this installation */
function requireProviders(app: App): void {
  if (app.providers.size === 0) throw new IdentityError(404, { reason: 'No other provider is set up here.' })
}

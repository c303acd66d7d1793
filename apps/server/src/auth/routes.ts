import { getField } from '@crux/service-kit'
import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import type { IdentityFlows } from '../identity/index.ts'
import { renewCode } from '../teams/index.ts'
import { createAccount, recover } from './recovery.ts'
import { relay, submit, toCaptcha, toTraits } from './relay.ts'
import { settingsRoutes } from './settings-routes.ts'

type AuthOperation =
  | 'auth.login'
  | 'auth.register'
  | 'auth.verify'
  | 'auth.logout'
  | 'auth.recovery'
  | 'auth.create-account'
  | 'auth.renew-invitation-code'

/** Passes the forms of the sign-in pages to the identity service's flow on behalf of the browser. */
export function authRoutes(
  app: App,
  flows: IdentityFlows,
): Handlers<AuthOperation> & ReturnType<typeof settingsRoutes> {
  return {
    ...settingsRoutes(app, flows),
    'auth.login': (form) => {
      const { method, email: identifier, password, code, provider } = form.body
      const fields = { method, identifier, password, code, provider, ...toCaptcha(form.body) }
      return submit(app, flows.login, form, fields, { signsIn: true })
    },
    'auth.register': (form) => {
      const { method, password, provider } = form.body
      const fields = { method, password, provider, traits: toTraits(form.body), ...toCaptcha(form.body) }
      return submit(app, flows.register, form, fields, { signsIn: true })
    },
    // A request with a code verifies it; one with only an address requests a new code.
    'auth.verify': (form) => {
      const { code, email } = form.body
      return submit(app, flows.verify, form, { method: 'code', ...(code ? { code } : { email }) })
    },
    'auth.recovery': (form) => recover(app, flows, form),
    'auth.create-account': ({ body, ...request }) => createAccount(app, flows, request, body),
    'auth.renew-invitation-code': ({ body }) => renewCode(app, body.team, body.invitation),
    'auth.logout': async (request) => {
      const answer = await relay(app, request, (browser) => flows.logout(browser))
      return { url: String(getField(answer, 'logout_url') ?? '') }
    },
  }
}

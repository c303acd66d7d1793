import { getField } from '@crux/service-kit'
import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import type { IdentityFlows } from '../identity/index.ts'
import { renewCode } from '../teams/index.ts'
import { captchaOf } from './captcha.ts'
import { createAccount, recover } from './recovery.ts'
import { relay } from './relay.ts'
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
    'auth.login': ({ body, ...request }) =>
      relay(
        app,
        request,
        (browser) =>
          flows.login(
            body.flow,
            {
              method: body.method,
              csrf_token: body.csrfToken,
              identifier: body.email,
              password: body.password,
              code: body.code,
              provider: body.provider,
              ...captchaOf(body),
            },
            browser,
          ),
        { signsIn: true },
      ),
    'auth.register': ({ body, ...request }) =>
      relay(
        app,
        request,
        (browser) =>
          flows.register(
            body.flow,
            {
              method: body.method,
              csrf_token: body.csrfToken,
              password: body.password,
              provider: body.provider,
              traits: { email: body.email, name: { first: body.firstName, last: body.lastName || undefined } },
              ...captchaOf(body),
            },
            browser,
          ),
        { signsIn: true },
      ),
    'auth.verify': ({ body, ...request }) =>
      relay(app, request, (browser) =>
        flows.verify(
          body.flow,
          // A request with a code verifies it; one with only an address requests a new code.
          { method: 'code', csrf_token: body.csrfToken, ...(body.code ? { code: body.code } : { email: body.email }) },
          browser,
        ),
      ),
    'auth.recovery': ({ body, ...request }) => recover(app, flows, request, body),
    'auth.create-account': ({ body, ...request }) => createAccount(app, flows, request, body),
    'auth.renew-invitation-code': ({ body }) => renewCode(app, body.team, body.invitation),
    'auth.logout': async (request) => {
      const answer = await relay(app, request, (browser) => flows.logout(browser))
      return { url: String(getField(answer, 'logout_url') ?? '') }
    },
  }
}

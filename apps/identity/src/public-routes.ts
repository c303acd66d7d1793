import type { Flow, FlowKind } from './db/schema.ts'
import { initLogin, submitLogin } from './flows/login.ts'
import { createLogout, followLogout, performLogout } from './flows/logout.ts'
import type { FlowApp } from './flows/offered-methods.ts'
import { getError, getFlow } from './flows/read.ts'
import { initRecovery, openRecoveryLink, submitRecovery } from './flows/recovery.ts'
import { initRegistration, submitRegistration } from './flows/registration.ts'
import { getSettings, initSettings, submitSettings } from './flows/settings.ts'
import { exchangeToken } from './flows/token-exchange.ts'
import { initVerification, openVerificationLink, submitVerification } from './flows/verification.ts'
import { noSuchRow } from './http/errors.ts'
import { healthRoutes } from './http/health.ts'
import type { RequestContext } from './http/request-context.ts'
import type { Routes } from './http/routes.ts'
import { schemaRoutes } from './identities/schema-routes.ts'
import { oidcRoutes } from './methods/oidc/callback.ts'
import { scriptRoutes } from './methods/webauthn/script.ts'
import { securityRoutes } from './security/routes.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { signingKeyRoutes } from './sessions/signing-keys.ts'

/** All endpoints for browsers and API clients, below CRUX_URL/kratos. */
export function publicRoutes(app: FlowApp): Routes {
  return {
    ...flowRoutes(app, 'login', { init: initLogin, submit: submitLogin }),
    ...flowRoutes(app, 'registration', { init: initRegistration, submit: submitRegistration }),
    ...flowRoutes(app, 'verification', {
      init: initVerification,
      submit: submitVerification,
      open: openVerificationLink,
    }),
    ...flowRoutes(app, 'recovery', { init: initRecovery, submit: submitRecovery, open: openRecoveryLink }),
    ...flowRoutes(app, 'settings', {
      init: initSettings,
      get: getSettings,
      submit: submitSettings,
      open: submitSettings,
    }),

    '/self-service/logout/browser': { GET: (ctx) => createLogout(app, ctx) },
    '/self-service/logout/api': { DELETE: (ctx) => performLogout(app, ctx) },
    '/self-service/logout': { GET: (ctx) => followLogout(app, ctx) },
    '/self-service/errors': { GET: (ctx) => getError(app, ctx) },

    '/sessions/token-exchange': { GET: (ctx) => exchangeToken(app, ctx) },
    ...sessionRoutes(app),
    ...securityRoutes(app),
    ...signingKeyRoutes(app),
    ...oidcRoutes(app),
    ...scriptRoutes,
    ...schemaRoutes,
    ...healthRoutes(app, ''),
  }
}

type FlowHandler = (app: FlowApp, ctx: RequestContext) => Promise<unknown>

/**
 * The endpoints that every flow has: two to start it, one for the page that renders it, and one to submit it.
 *
 * @param handlers.open answers a browser that opens the address of the submit, such as the link of a mail; absent where there is no such link
 */
function flowRoutes(
  app: FlowApp,
  kind: FlowKind,
  handlers: {
    init: (app: FlowApp, ctx: RequestContext, type: Flow['type']) => Promise<unknown>
    submit: FlowHandler
    get?: FlowHandler
    open?: FlowHandler
  },
): Routes {
  const { init, submit, get = (_app, ctx) => getFlow(app, ctx, kind), open = noSubmitByGet } = handlers
  const path = `/self-service/${kind}`
  return {
    [`${path}/browser`]: { GET: (ctx) => init(app, ctx, 'browser') },
    [`${path}/api`]: { GET: (ctx) => init(app, ctx, 'api') },
    [`${path}/flows`]: { GET: (ctx) => get(app, ctx) },
    [path]: { GET: (ctx) => open(app, ctx), POST: (ctx) => submit(app, ctx) },
  }
}

async function noSubmitByGet(): Promise<never> {
  throw noSuchRow()
}

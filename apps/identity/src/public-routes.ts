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
    '/self-service/login/browser': { GET: (ctx) => initLogin(app, ctx, 'browser') },
    '/self-service/login/api': { GET: (ctx) => initLogin(app, ctx, 'api') },
    '/self-service/login/flows': { GET: (ctx) => getFlow(app, ctx, 'login') },
    '/self-service/login': { GET: async () => noSubmitByGet(), POST: (ctx) => submitLogin(app, ctx) },

    '/self-service/registration/browser': { GET: (ctx) => initRegistration(app, ctx, 'browser') },
    '/self-service/registration/api': { GET: (ctx) => initRegistration(app, ctx, 'api') },
    '/self-service/registration/flows': { GET: (ctx) => getFlow(app, ctx, 'registration') },
    '/self-service/registration': { GET: async () => noSubmitByGet(), POST: (ctx) => submitRegistration(app, ctx) },

    '/self-service/verification/browser': { GET: (ctx) => initVerification(app, ctx, 'browser') },
    '/self-service/verification/api': { GET: (ctx) => initVerification(app, ctx, 'api') },
    '/self-service/verification/flows': { GET: (ctx) => getFlow(app, ctx, 'verification') },
    '/self-service/verification': {
      GET: (ctx) => openVerificationLink(app, ctx),
      POST: (ctx) => submitVerification(app, ctx),
    },

    '/self-service/logout/browser': { GET: (ctx) => createLogout(app, ctx) },
    '/self-service/logout/api': { DELETE: (ctx) => performLogout(app, ctx) },
    '/self-service/logout': { GET: (ctx) => followLogout(app, ctx) },
    '/self-service/errors': { GET: (ctx) => getError(app, ctx) },

    '/self-service/settings/browser': { GET: (ctx) => initSettings(app, ctx, 'browser') },
    '/self-service/settings/api': { GET: (ctx) => initSettings(app, ctx, 'api') },
    '/self-service/settings/flows': { GET: (ctx) => getSettings(app, ctx) },
    '/self-service/settings': {
      GET: (ctx) => submitSettings(app, ctx),
      POST: (ctx) => submitSettings(app, ctx),
    },

    '/self-service/recovery/browser': { GET: (ctx) => initRecovery(app, ctx, 'browser') },
    '/self-service/recovery/api': { GET: (ctx) => initRecovery(app, ctx, 'api') },
    '/self-service/recovery/flows': { GET: (ctx) => getFlow(app, ctx, 'recovery') },
    '/self-service/recovery': {
      GET: (ctx) => openRecoveryLink(app, ctx),
      POST: (ctx) => submitRecovery(app, ctx),
    },

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

function noSubmitByGet(): never {
  throw noSuchRow()
}

import type { App } from './context.ts'
import { initLogin, submitLogin } from './flows/login.ts'
import { createLogout, followLogout, performLogout } from './flows/logout.ts'
import { getError, getFlow } from './flows/read.ts'
import { initRecovery, openRecoveryLink, submitRecovery } from './flows/recovery.ts'
import { initRegistration, submitRegistration } from './flows/registration.ts'
import { getSettings, initSettings, submitSettings } from './flows/settings.ts'
import { initVerification, openVerificationLink, submitVerification } from './flows/verification.ts'
import { healthRoutes } from './health.ts'
import { noSuchRow } from './http/errors.ts'
import type { Routes } from './http/routes.ts'
import { schemaRoutes } from './identities/schema-routes.ts'
import { oidcRoutes } from './methods/oidc/callback.ts'
import { scriptRoutes } from './methods/webauthn/script.ts'
import { securityRoutes } from './security/routes.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { signingKeyRoutes } from './sessions/signing-keys.ts'

/** Everything that browsers and API clients reach, below CRUX_URL/kratos. */
export function publicRoutes(app: App): Routes {
  return {
    '/self-service/login/browser': { GET: (visit) => initLogin(app, visit, 'browser') },
    '/self-service/login/api': { GET: (visit) => initLogin(app, visit, 'api') },
    '/self-service/login/flows': { GET: (visit) => getFlow(app, visit, 'login') },
    '/self-service/login': { GET: async () => noSubmitByGet(), POST: (visit) => submitLogin(app, visit) },

    '/self-service/registration/browser': { GET: (visit) => initRegistration(app, visit, 'browser') },
    '/self-service/registration/api': { GET: (visit) => initRegistration(app, visit, 'api') },
    '/self-service/registration/flows': { GET: (visit) => getFlow(app, visit, 'registration') },
    '/self-service/registration': { GET: async () => noSubmitByGet(), POST: (visit) => submitRegistration(app, visit) },

    '/self-service/verification/browser': { GET: (visit) => initVerification(app, visit, 'browser') },
    '/self-service/verification/api': { GET: (visit) => initVerification(app, visit, 'api') },
    '/self-service/verification/flows': { GET: (visit) => getFlow(app, visit, 'verification') },
    '/self-service/verification': {
      GET: (visit) => openVerificationLink(app, visit),
      POST: (visit) => submitVerification(app, visit),
    },

    '/self-service/logout/browser': { GET: (visit) => createLogout(app, visit) },
    '/self-service/logout/api': { DELETE: (visit) => performLogout(app, visit) },
    '/self-service/logout': { GET: (visit) => followLogout(app, visit) },
    '/self-service/errors': { GET: (visit) => getError(app, visit) },

    '/self-service/settings/browser': { GET: (visit) => initSettings(app, visit, 'browser') },
    '/self-service/settings/api': { GET: (visit) => initSettings(app, visit, 'api') },
    '/self-service/settings/flows': { GET: (visit) => getSettings(app, visit) },
    '/self-service/settings': {
      GET: (visit) => submitSettings(app, visit),
      POST: (visit) => submitSettings(app, visit),
    },

    '/self-service/recovery/browser': { GET: (visit) => initRecovery(app, visit, 'browser') },
    '/self-service/recovery/api': { GET: (visit) => initRecovery(app, visit, 'api') },
    '/self-service/recovery/flows': { GET: (visit) => getFlow(app, visit, 'recovery') },
    '/self-service/recovery': {
      GET: (visit) => openRecoveryLink(app, visit),
      POST: (visit) => submitRecovery(app, visit),
    },

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

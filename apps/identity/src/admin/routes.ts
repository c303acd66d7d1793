import type { FastifyRequest } from 'fastify'
import type { App } from '../app/app.ts'
import { version } from '../app/version.ts'
import { sameSecret } from '../crypto/secrets.ts'
import { IdentityError } from '../http/errors.ts'
import { healthRoutes } from '../http/health.ts'
import type { Routes } from '../http/routes.ts'
import { schemaRoutes } from '../identities/schema-routes.ts'
import { identityRoutes } from './identities.ts'
import { recoveryRoutes } from './recovery.ts'
import { securityLogRoutes } from './security-log.ts'
import { adminSessionRoutes } from './sessions.ts'

/** All endpoints for the Crux server. They require the admin token. */
export function adminRoutes(app: App): Routes {
  return {
    ...identityRoutes(app),
    ...adminSessionRoutes(app),
    ...recoveryRoutes(app),
    ...securityLogRoutes(app),
    '/version': { GET: async (ctx) => ctx.reply.send({ version }) },
    '/admin/version': { GET: async (ctx) => ctx.reply.send({ version }) },
    ...schemaRoutes,
    ...Object.fromEntries(Object.entries(schemaRoutes).map(([path, route]) => [`/admin${path}`, route])),
    ...healthRoutes(app, ''),
    ...healthRoutes(app, '/admin'),
  }
}

/** Accepts requests with the admin token. Liveness probes need none because they reveal nothing. */
export function adminGuard(app: App): (request: FastifyRequest) => IdentityError | undefined {
  return (request) => {
    const path = request.url.split('?', 1)[0] ?? ''
    if (/^(?:\/admin)?\/health(?:\/alive|\/ready)?$/.test(path)) return undefined
    const token = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (token !== undefined && sameSecret(token, app.config.IDENTITY_ADMIN_TOKEN)) return undefined
    return new IdentityError(401, { reason: 'The admin API needs the bearer token IDENTITY_ADMIN_TOKEN.' })
  }
}

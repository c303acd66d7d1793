import { CruxError, type EndpointSpec, isAllowed, scopeCovers, scopeOfEndpoint } from '@crux/contract'
import { getField } from '@crux/service-kit'
import type { FastifyRequest } from 'fastify'
import type { Actor, TeamContext } from './actor.ts'
import type { Authentication } from './authentication.ts'
import type { FailedChecks } from './failed-checks.ts'
import type { VerifyBody } from './hook-signature.ts'
import type { Membership } from './membership.ts'
import { refuseForeignOrigin } from './origins.ts'
import { sessionRefusal } from './pending-requirement.ts'
import type { PipelineHooks } from './pipeline-hooks.ts'
import type { RegistryHooks } from './registry-hooks.ts'
import type { TeamKey } from './store.ts'

/** The services that check a request, or a live message, before its handler. */
export type AuthServices = {
  authentication: Authentication
  failedChecks: FailedChecks
  membership: Membership
  registryHooks: RegistryHooks
  pipelineHooks: PipelineHooks
}
export type AuthResult = {
  actor?: Actor
  team?: TeamContext
  /** For a request whose body is signed: rejects unless the text of the body has the signature. */
  verifyBody?: (body: string) => Promise<void>
}
/**
 * Accepts a request or throws. Sets `request.passed` as far as the checks succeeded, so that a refusal is recorded with
 * its author.
 */
export type Guard = (endpoint: EndpointSpec, request: FastifyRequest) => Promise<AuthResult>

/**
 * Deny by default: no session 401, not in the team 403 (the same for a team that does not exist), role or scope too low
 * 403, missing password or second factor 403, a sign-in that is too old for the endpoint 403 `session`. By id a team of
 * which the caller is no member is 404 with property `team`.
 */
export function createGuard(services: AuthServices, origins: () => ReadonlySet<string>): Guard {
  return async (endpoint, request) => {
    refuseForeignOrigin(request.method, request.headers, origins())
    // Agents with an install token are no members. The handler checks the token against node and team, and reveals
    // neither to other callers.
    if (endpoint.permission === 'public' || endpoint.permission === 'install-token') return {}
    const { cookie, authorization } = request.headers
    if (endpoint.permission === 'registry-hook') {
      const { hook } = endpoint
      return verifyDelivery(request, hook !== undefined && (await services.registryHooks.verify(hook, request)))
    }
    if (endpoint.permission === 'pipeline-hook') {
      const { pipelineHook: type } = endpoint
      return verifyDelivery(request, type !== undefined && (await services.pipelineHooks.verify(type, request)))
    }
    const actor = await services.authentication.actor({ cookie, authorization })
    if (!actor) {
      if (authorization !== undefined) await services.failedChecks.count(request.ip)
      throw new CruxError('unauthorized')
    }
    if (endpoint.permission === 'session') {
      if (actor.kind !== 'user') throw scopeTooLow('This is about a person: only a person may ask.')
      checkScope(endpoint, actor, request.params)
      return { actor: await checkSession(endpoint, actor, request) }
    }

    request.passed = { actor }
    const key = toTeamKey(request.params)
    const team = key && (await services.membership.find(actor, key))
    if (!team) throw notInTeam(key)
    request.passed = { actor, team }
    checkScope(endpoint, actor, request.params)
    if (!isAllowed(team.role, endpoint.permission)) throw new CruxError('forbidden')
    return { actor: await checkSession(endpoint, actor, request, team), team }
  }

  async function verifyDelivery(request: FastifyRequest, verified: boolean | VerifyBody): Promise<AuthResult> {
    if (verified === false) return refuseHook(request)
    if (verified === true) return {}
    return { verifyBody: async (body) => void (verified(body) || (await refuseHook(request))) }
  }

  async function refuseHook(request: FastifyRequest): Promise<never> {
    await services.failedChecks.count(request.ip)
    throw new CruxError('unauthorized')
  }

  /** The session is read again before a refusal, because it may have gained the missing right a moment ago. */
  async function checkSession(
    endpoint: EndpointSpec,
    actor: Actor,
    request: FastifyRequest,
    team?: TeamContext,
  ): Promise<Actor> {
    if (!sessionRefusal(endpoint, actor, team)) return actor
    const { cookie, authorization } = request.headers
    const now = (await services.authentication.actor({ cookie, authorization }, { fresh: true })) ?? actor
    const refusal = sessionRefusal(endpoint, now, team)
    if (refusal) throw refusal
    return now
  }
}

/** @throws CruxError forbidden `token` */
function checkScope(endpoint: EndpointSpec, actor: Actor, params: unknown) {
  if (!actor.grant) return
  const needed = scopeOfEndpoint(endpoint)
  if (needed === undefined) throw scopeTooLow('No token may do this: sign in for it.')
  if (actor.kind === 'deployment-token') {
    if (endpoint.token === 'deployment-token' && getField(params, 'deploymentId') === actor.deploymentId) return
    throw scopeTooLow('This token starts its own deployment and does nothing else.')
  }
  const { scope } = actor.grant
  if (!scopeCovers(scope, needed)) throw scopeTooLow(`This token has the scope "${scope}", and this needs "${needed}".`)
}

function toTeamKey(params: unknown): TeamKey | undefined {
  const [slug, id] = [getField(params, 'teamSlug'), getField(params, 'teamId')]
  if (slug !== undefined) return { by: 'slug', value: String(slug) }
  return id === undefined ? undefined : { by: 'id', value: String(id) }
}

const notInTeam = (key: TeamKey | undefined) =>
  key?.by === 'id'
    ? new CruxError('notFound', { property: 'team' })
    : new CruxError('forbidden', {
        property: 'teamSlug',
        description: 'There is no such team, or you are not a member of it.',
      })

const scopeTooLow = (description: string) => new CruxError('forbidden', { property: 'token', description })

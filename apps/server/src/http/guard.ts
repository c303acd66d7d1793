import { CruxError, type EndpointSpec, isAllowed, scopeCovers, scopeOfEndpoint } from '@crux/contract'
import type { FastifyRequest } from 'fastify'
import type { Membership, TeamKey } from '../teams/membership.ts'
import type { Authentication } from '../tokens/authentication.ts'
import type { FailedChecks } from '../tokens/failed-checks.ts'
import type { Actor, TeamContext } from './handlers.ts'
import { refuseForeignOrigin } from './origins.ts'
import { sessionRefusal } from './unsettled.ts'

/** What stands between a request, or a live message, and its handler. */
export type AuthServices = { authentication: Authentication; failedChecks: FailedChecks; membership: Membership }
export type AuthResult = { actor?: Actor; team?: TeamContext }
/** Lets a request pass or throws. Sets `request.passed` as far as it came, so that a refusal is recorded with who tried. */
export type Guard = (row: EndpointSpec, request: FastifyRequest) => Promise<AuthResult>

/**
 * Deny by default: no session 401, not in the team 403 (the same for a team that does not exist), role or scope too low 403, a
 * password or second factor that is still to come 403, a sign-in that is too old for the endpoint 403 `session`. By id a team that is not ours is 404 with property `team` (backend.md 2.2).
 */
export function createGuard(gates: AuthServices, origins: () => ReadonlySet<string>): Guard {
  return async (row, request) => {
    refuseForeignOrigin(request.method, request.headers, origins())
    // Who holds an install token is no member; the handler checks it against node and team, and tells strangers nothing of either.
    if (row.permission === 'public' || row.permission === 'install-token') return {}
    const { cookie, authorization } = request.headers
    if (row.permission === 'registry-hook') {
      const { registryId } = request.params as { registryId: string }
      if (await gates.authentication.isRegistryHook({ authorization }, registryId)) return {}
      await gates.failedChecks.count(request.ip)
      throw new CruxError('unauthorized')
    }
    const actor = await gates.authentication.actor({ cookie, authorization })
    if (!actor) {
      if (authorization !== undefined) await gates.failedChecks.count(request.ip)
      throw new CruxError('unauthorized')
    }
    if (row.permission === 'session') {
      if (actor.kind !== 'user') throw scopeTooLow('This is about a person: only a person may ask.')
      checkScope(row, actor, request.params)
      return { actor: await settled(row, actor, request) }
    }

    request.passed = { actor }
    const key = teamKeyOf(request.params)
    const team = key && (await gates.membership.find(actor, key))
    if (!team) throw notInTeam(key)
    request.passed = { actor, team }
    checkScope(row, actor, request.params)
    if (!isAllowed(team.role, row.permission)) throw new CruxError('forbidden')
    return { actor: await settled(row, actor, request, team), team }
  }

  /** Before a refusal the session is looked at anew: what it lacked a moment ago it may have now. */
  async function settled(row: EndpointSpec, actor: Actor, request: FastifyRequest, team?: TeamContext): Promise<Actor> {
    if (!sessionRefusal(row, actor, team)) return actor
    const { cookie, authorization } = request.headers
    const now = (await gates.authentication.actor({ cookie, authorization }, { fresh: true })) ?? actor
    const refusal = sessionRefusal(row, now, team)
    if (refusal) throw refusal
    return now
  }
}

/** @throws CruxError forbidden `token` */
function checkScope(row: EndpointSpec, actor: Actor, params: unknown) {
  if (!actor.grant) return
  const needed = scopeOfEndpoint(row)
  if (needed === undefined) throw scopeTooLow('No token may do this: sign in for it.')
  if (actor.kind === 'deployment-token') {
    const { deploymentId } = params as { deploymentId?: string }
    if (row.token === 'deployment-token' && deploymentId === actor.deploymentId) return
    throw scopeTooLow('This token starts its own deployment and does nothing else.')
  }
  const { scope } = actor.grant
  if (!scopeCovers(scope, needed)) throw scopeTooLow(`This token has the scope "${scope}", and this needs "${needed}".`)
}

function teamKeyOf(params: unknown): TeamKey | undefined {
  const { teamSlug, teamId } = params as { teamSlug?: string; teamId?: string }
  if (teamSlug !== undefined) return { by: 'slug', value: teamSlug }
  return teamId === undefined ? undefined : { by: 'id', value: teamId }
}

const notInTeam = (key: TeamKey | undefined) =>
  key?.by === 'id'
    ? new CruxError('notFound', { property: 'team' })
    : new CruxError('forbidden', { property: 'teamSlug', description: 'There is no such team, or you are not in it.' })

const scopeTooLow = (description: string) => new CruxError('forbidden', { property: 'token', description })

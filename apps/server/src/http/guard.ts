import { CruxError, type EndpointSpec, isAllowed } from '@crux/contract'
import type { FastifyRequest } from 'fastify'
import type { App } from '../context.ts'
import type { Membership, TeamKey } from '../teams/membership.ts'
import type { Actor, TeamContext } from './handlers.ts'
import { refuseForeignOrigin } from './origins.ts'

export type Passed = { actor?: Actor; team?: TeamContext }
/** Lets a request pass or throws. Sets `request.passed` as far as it came, so that a refusal is recorded with who tried. */
export type Guard = (row: EndpointSpec, request: FastifyRequest) => Promise<Passed>

/**
 * Deny by default: no session 401, not in the team 403 (the same for a team that does not exist), role too low 403. By id a team
 * that is not ours is 404 with property `team` (backend.md 2.2).
 */
export function createGuard(app: App, membership: Membership, origins: () => ReadonlySet<string>): Guard {
  return async (row, request) => {
    refuseForeignOrigin(request.method, request.headers, origins())
    // Who holds an install token is no member; the handler checks it against node and team, and tells strangers nothing of either.
    if (row.permission === 'public' || row.permission === 'install-token') return {}
    const { cookie, authorization } = request.headers
    const actor = await app.identity.session({ cookie, authorization })
    if (!actor) throw new CruxError('unauthorized')
    if (row.permission === 'session') return { actor }

    request.passed = { actor }
    const key = teamKeyOf(request.params)
    const team = key && (await membership.find(actor.id, key))
    if (!team) throw notInTeam(key)
    request.passed = { actor, team }
    if (!isAllowed(team.role, row.permission)) throw new CruxError('forbidden')
    return { actor, team }
  }
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

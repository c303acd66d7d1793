import { type Body, CruxError, isAllowed, type ResponseInput, reservedTeamSlugs } from '@crux/contract'
import { toSlug } from '@crux/rules'
import { type Actor, type Caller, lacksSecondFactor } from '../access/index.ts'
import type { App } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import type { User } from '../identity/index.ts'
import type { LocalAgents } from '../nodes/index.ts'
import { teamChanged, teamDeleted } from './events.ts'
import { invitationDelivery } from './invitation-link.ts'
import { lockTeam } from './invitation-store.ts'
import {
  deleteTeamRows,
  insertTeam,
  isDeploying,
  lockNodesOfTeam,
  lockVersionsOfTeam,
  selectTeam,
  selectTeamsOf,
  type TeamRow,
  updateTeam,
} from './store.ts'

export async function createTeam(
  app: App,
  actor: Actor,
  body: Body<'teams.create'>,
): Promise<ResponseInput<'teams.create'>> {
  if (app.config.teamCreationDisabled)
    throw new CruxError('forbidden', { description: 'This installation does not let people create teams.' })
  checkSlug(body.slug)
  const id = await inTransaction(app.database, (queries) => insertTeam(queries, { ...body, ownerId: actor.id }))
  app.log.info({ teamId: id, userId: actor.id }, 'team created')
  teamChanged(app, { id })
  return { id, ...body, statistics: { users: 1, projects: 0, nodes: 0, versions: 0, deployments: 0 } }
}

export async function listTeams(app: App, actor: Actor): Promise<ResponseInput<'teams.list'>> {
  const rows = await selectTeamsOf(app, actor.id)
  const people = await app.identity.people(rows.flatMap((row) => row.members.map((member) => member.userId)))
  return rows.map((row) => details(lacksSecondFactor(actor, row) ? outside(row, actor) : row, people))
}

export async function getTeam(app: App, { team }: Caller): Promise<ResponseInput<'teams.get'>> {
  const row = await selectTeam(app, team.id)
  if (!row) throw new CruxError('notFound', { property: 'team' })
  const ids = row.members.map((member) => member.userId)
  const [people, lastLogins] = await Promise.all([app.identity.people(ids), app.identity.lastLogins(ids)])
  return { ...details(row, people, lastLogins), invitations: invitationDelivery(app.config) }
}

export async function renameTeam(app: App, { team, actor }: Caller, body: Body<'teams.update'>): Promise<void> {
  if (body.slug !== team.slug) {
    if (!isAllowed(team.role, 'teams.slug'))
      throw new CruxError('forbidden', { property: 'slug', description: 'Only an owner changes the slug of a team.' })
    checkSlug(body.slug)
  }
  await updateTeam(app.database.pool, team.id, { ...body, updatedBy: actor.id })
  teamChanged(app, team)
}

/** Deletes a team. Its containers continue to run; its agents are stopped and delete their tokens. */
export async function deleteTeam(app: App, localAgents: LocalAgents, { team, actor }: Caller): Promise<void> {
  if (app.config.teamCreationDisabled)
    throw new CruxError('forbidden', { description: 'This installation keeps its teams as they are.' })
  const nodeIds = await inTransaction(app.database, async (queries) => {
    await lockVersionsOfTeam(queries, team.id)
    const nodes = await lockNodesOfTeam(queries, team.id)
    await lockTeam(queries, team.id)
    if (await isDeploying(queries, team.id))
      throw new CruxError('preconditionFailed', {
        property: 'deployments',
        description: 'A deployment of this team is in progress: wait until it ends, or cancel it.',
      })
    await deleteTeamRows(queries, team.id)
    return nodes
  })
  teamDeleted(app, team, actor)
  for (const nodeId of nodeIds) {
    app.bus.publish({ type: 'node.close', nodeId, reason: 'token-revoked' })
    await localAgents.dismiss(nodeId)
  }
}

function checkSlug(slug: string) {
  if (toSlug(slug) !== slug)
    throw new CruxError('invalidArgument', {
      property: 'slug',
      value: slug,
      description: `A slug has lower-case letters, digits and single dashes, for example "${toSlug(slug)}".`,
    })
  if (reservedTeamSlugs.some((reserved) => reserved === slug))
    throw new CruxError('invalidArgument', {
      property: 'slug',
      value: slug,
      description: `"${slug}" is an address of the console itself. Choose another one.`,
    })
}

/** The data of a team that requires a second factor which the member has not used: that it exists, and what it requires. */
const outside = (row: TeamRow, actor: Actor): TeamRow => ({
  ...row,
  projects: 0,
  nodes: 0,
  versions: 0,
  deployments: 0,
  members: row.members.filter((member) => member.userId === actor.id),
  invitations: [],
  allowedDomains: [],
})

function details(
  row: TeamRow,
  people: Map<string, User>,
  lastLogins: Map<string, string> = new Map(),
): ResponseInput<'teams.get'> {
  const { members, invitations, secondFactorRequired, allowedDomains, id, name, slug, ...counts } = row
  return {
    id,
    name,
    slug,
    statistics: { users: members.length + invitations.length, ...counts },
    security: { secondFactorRequired, allowedDomains },
    users: [
      ...members.map(({ userId, role }) => {
        const person = people.get(userId)
        return {
          id: userId,
          name: person?.name ?? 'Unknown user',
          email: person?.email ?? '',
          role,
          status: 'verified' as const,
          lastLogin: lastLogins.get(userId) ?? null,
        }
      }),
      ...invitations.map(({ userId, ...entry }) => ({ id: userId, role: 'user' as const, ...entry })),
    ],
  }
}

import { type Answer, type Body, CruxError, reservedTeamSlugs } from '@crux/contract'
import { slugOf } from '@crux/rules'
import type { App } from '../context.ts'
import type { Actor, TeamContext } from '../http/handlers.ts'
import type { Person } from '../identity/identity.ts'
import { insertTeam, selectTeam, selectTeamsOf, type TeamRow, updateTeam } from './store.ts'

export async function createTeam(app: App, actor: Actor, body: Body<'teams.create'>): Promise<Answer<'teams.create'>> {
  if (app.config.teamCreationDisabled)
    throw new CruxError('forbidden', { description: 'This installation does not let people create teams.' })
  checkSlug(body.slug)
  const id = await app.database.transaction((tx) => insertTeam(tx, { ...body, ownerId: actor.id }))
  app.log.info({ teamId: id, userId: actor.id }, 'team created')
  app.bus.publish({ type: 'team.changed', teamId: id })
  return { id, ...body, statistics: { users: 1, projects: 0, nodes: 0, versions: 0, deployments: 0 } }
}

export async function listTeams(app: App, actor: Actor): Promise<Answer<'teams.list'>> {
  const rows = await selectTeamsOf(app, actor.id)
  const people = await app.identity.people(rows.flatMap((row) => row.members.map((member) => member.userId)))
  return rows.map((row) => details(row, people))
}

export async function getTeam(app: App, team: TeamContext): Promise<Answer<'teams.get'>> {
  const row = await selectTeam(app, team.id)
  if (!row) throw new CruxError('notFound', { property: 'team' })
  return details(row, await app.identity.people(row.members.map((member) => member.userId)))
}

export async function renameTeam(app: App, team: TeamContext, actor: Actor, body: Body<'teams.update'>): Promise<void> {
  if (body.slug !== team.slug) checkSlug(body.slug)
  await updateTeam(app, team.id, { ...body, updatedBy: actor.id })
  app.bus.publish({ type: 'team.changed', teamId: team.id })
}

function checkSlug(slug: string) {
  if (slugOf(slug) !== slug)
    throw new CruxError('invalidArgument', {
      property: 'slug',
      value: slug,
      description: `A slug has lower-case letters, digits and single dashes, for example "${slugOf(slug)}".`,
    })
  if ((reservedTeamSlugs as readonly string[]).includes(slug))
    throw new CruxError('invalidArgument', {
      property: 'slug',
      value: slug,
      description: `"${slug}" is an address of the console itself. Choose another one.`,
    })
}

function details(row: TeamRow, people: Map<string, Person>): Answer<'teams.get'> {
  const { members, id, name, slug, ...counts } = row
  return {
    id,
    name,
    slug,
    statistics: { users: members.length, ...counts },
    security: { secondFactorRequired: false, allowedDomains: [] },
    users: members.map(({ userId, role }) => {
      const person = people.get(userId)
      return {
        id: userId,
        name: person?.name ?? 'Unknown user',
        email: person?.email ?? '',
        role,
        status: 'verified' as const,
      }
    }),
  }
}

import { CruxError, type TeamRole } from '@crux/contract'
import type { Caller, TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { memberLeft, memberRemoved, roleChanged } from './events.ts'
import { deleteInvitation, lockTeam } from './invitation-store.ts'
import { countOwners, deleteMember, selectRole, updateRole } from './member-store.ts'

/**
 * `owner` adds an owner; an owner who transfers the ownership gives up their own role afterwards.
 *
 * @throws CruxError preconditionFailed for the last owner, notFound for users who are only invited
 */
export async function changeRole(app: App, { team, actor }: Caller, userId: string, role: TeamRole): Promise<void> {
  const before = await inTransaction(app.database, async (queries) => {
    await lockTeam(queries, team.id)
    const current = await selectRole(queries, team.id, userId)
    if (!current) throw noMember(userId)
    if (role !== 'owner') await refuseLastOwner(queries, team, current, 'role')
    await updateRole(queries, team.id, userId, role)
    return current
  })
  if (before !== role) roleChanged(app, team, actor, { userId, before, role })
}

/** Removes a member, or revokes an invitation. An owner needs another role first. */
export async function removeUser(app: App, { team, actor }: Caller, userId: string): Promise<void> {
  const role = await inTransaction(app.database, async (queries) => {
    await lockTeam(queries, team.id)
    const current = await selectRole(queries, team.id, userId)
    if (current === 'owner')
      throw new CruxError('forbidden', {
        property: 'userId',
        value: userId,
        description: 'An owner has to become an admin or a user first.',
      })
    const invited = await deleteInvitation(queries, team.id, userId)
    if (!current && !invited) throw noMember(userId)
    await deleteMember(queries, team.id, userId)
    return current
  })
  memberRemoved(app, team, actor, { userId, role })
}

export async function leaveTeam(app: App, { team, actor }: Caller): Promise<void> {
  if (app.config.teamCreationDisabled)
    throw new CruxError('forbidden', { description: 'This installation keeps its teams as they are.' })
  await inTransaction(app.database, async (queries) => {
    await lockTeam(queries, team.id)
    const current = await selectRole(queries, team.id, actor.id)
    if (!current) throw noMember(actor.id)
    await refuseLastOwner(queries, team, current, 'userId')
    await deleteMember(queries, team.id, actor.id)
  })
  memberLeft(app, team, actor)
}

/** Valid only while the team is locked: of two owners who leave at once, one stays. */
async function refuseLastOwner(queries: Queries, team: TeamContext, role: TeamRole, property: string): Promise<void> {
  if (role === 'owner' && (await countOwners(queries, team.id)) <= 1)
    throw new CruxError('preconditionFailed', {
      property,
      value: 'owner',
      description: 'A team needs an owner. Make another member an owner first.',
    })
}

const noMember = (userId: string) =>
  new CruxError('notFound', {
    property: 'userId',
    value: userId,
    description: 'This user is not a member of the team.',
  })

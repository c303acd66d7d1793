import type { TeamRole } from '@crux/contract'
import type { Actor } from '../access/index.ts'
import { recordAudit } from '../audit-log/index.ts'
import type { App } from '../context.ts'
import { recordEvent } from '../system/index.ts'

type TeamRef = { id: string }

/** One function per event of a team or its members, so that the process's log and the bus always get it together. */
export function teamChanged(app: App, team: TeamRef) {
  app.bus.publish({ type: 'team.changed', teamId: team.id })
}

export function securityChanged(app: App, team: TeamRef, actor: Actor, security: object) {
  recordEvent(app, { teamId: team.id, userId: actor.id, ...security }, 'team security changed')
  teamChanged(app, team)
}

export function teamDeleted(app: App, team: TeamRef & { name: string; slug: string }, actor: Actor) {
  recordEvent(app, { teamId: team.id, name: team.name, slug: team.slug, userId: actor.id }, 'team deleted')
  teamChanged(app, team)
}

export function roleChanged(
  app: App,
  team: TeamRef,
  actor: Actor,
  { userId, before, role }: { userId: string; before: TeamRole; role: TeamRole },
) {
  recordEvent(app, { teamId: team.id, userId, before, role, by: actor.id }, 'role changed')
  memberChanged(app, team, userId)
}

export function memberRemoved(
  app: App,
  team: TeamRef,
  actor: Actor,
  { userId, role }: { userId: string; role: TeamRole | undefined },
) {
  recordEvent(app, { teamId: team.id, userId, role, by: actor.id }, role ? 'member removed' : 'invitation revoked')
  memberChanged(app, team, userId)
}

export function memberLeft(app: App, team: TeamRef, actor: Actor) {
  recordEvent(app, { teamId: team.id, userId: actor.id }, 'member left')
  memberChanged(app, team, actor.id)
}

export function personInvited(app: App, team: TeamRef, actor: Actor, userId: string) {
  recordEvent(app, { teamId: team.id, userId, by: actor.id }, 'person invited')
}

/** The guard has no team for users who are no members yet, so that their answer is recorded here. */
export async function invitationAnswered(
  app: App,
  team: TeamRef,
  actor: Actor,
  answer: 'accept' | 'decline',
  refused?: { error: string; property: string | undefined },
) {
  if (!refused) recordEvent(app, { teamId: team.id, userId: actor.id, answer }, 'invitation answered')
  await recordAudit(app, {
    teamId: team.id,
    actor,
    context: 'http',
    method: answer === 'accept' ? 'post' : 'delete',
    event: `invitation users.${answer}-invitation`,
    accepted: refused === undefined,
    data: refused && { refused },
  })
  if (answer === 'accept' && !refused) memberChanged(app, team, actor.id)
}

function memberChanged(app: App, team: TeamRef, userId: string) {
  app.bus.publish({ type: 'member.changed', teamId: team.id, userId })
}

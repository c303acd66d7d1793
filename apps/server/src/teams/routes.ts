import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import type { Credentials } from '../identity/index.ts'
import type { LocalAgents } from '../nodes/index.ts'
import { createTeam, deleteTeam, getTeam, listTeams, renameTeam } from './actions.ts'
import { deleteAccount } from './delete-account.ts'
import { selectInvitationsOf } from './invitation-store.ts'
import { acceptInvitation, declineInvitation, invite, reinvite } from './invitations.ts'
import { changeRole, leaveTeam, removeUser } from './members.ts'
import { updateSecurity } from './security.ts'
import { selectTeamNames } from './store.ts'

type TeamOperation =
  | 'users.me'
  | 'users.delete-me'
  | 'users.show-onboarding'
  | 'users.hide-onboarding'
  | 'users.accept-invitation'
  | 'users.decline-invitation'
  | 'teams.list'
  | 'teams.create'
  | 'teams.get'
  | 'teams.update'
  | 'teams.update-security'
  | 'teams.delete'
  | 'teams.invite'
  | 'teams.reinvite'
  | 'teams.change-role'
  | 'teams.leave'
  | 'teams.remove-user'

export function teamRoutes(app: App, localAgents: LocalAgents): Handlers<TeamOperation> {
  /** The current session of the caller, read without the cache. */
  const askAgain = ({ cookie, authorization }: Credentials) => {
    return app.identity.session({ cookie, authorization }, { fresh: true })
  }
  return {
    'users.me': async ({ actor, headers }) => {
      // A recently set password counts, because the console depends on the result.
      const now = actor.recovered ? await askAgain(headers) : actor
      const [teams, invitations, onboarding] = await Promise.all([
        selectTeamNames(app, actor.id),
        selectInvitationsOf(app.database.pool, actor.id),
        app.accounts.showsOnboarding(actor.id),
      ])
      return {
        user: { id: actor.id, name: actor.name, email: actor.email },
        teams,
        invitations,
        onboarding,
        teamCreation: !app.config.teamCreationDisabled,
        recovered: (now ?? actor).recovered,
      }
    },
    'users.delete-me': async ({ actor, body }) => void (await deleteAccount(app, actor, body)),
    'users.show-onboarding': async ({ actor }) => void (await app.accounts.saveOnboarding(actor.id, true)),
    'users.hide-onboarding': async ({ actor }) => void (await app.accounts.saveOnboarding(actor.id, false)),
    'users.accept-invitation': async ({ actor, params }) => void (await acceptInvitation(app, actor, params.teamId)),
    'users.decline-invitation': async ({ actor, params }) => void (await declineInvitation(app, actor, params.teamId)),
    'teams.list': ({ actor }) => listTeams(app, actor),
    'teams.create': ({ actor, body }) => createTeam(app, actor, body),
    'teams.get': ({ team }) => getTeam(app, team),
    'teams.update': async ({ team, actor, body }) => void (await renameTeam(app, { team, actor }, body)),
    'teams.update-security': async ({ team, actor, body, headers }) => {
      // A recently added second factor counts.
      await updateSecurity(app, team, (await askAgain(headers)) ?? actor, body)
    },
    'teams.delete': async ({ team, actor }) => void (await deleteTeam(app, localAgents, { team, actor })),
    'teams.invite': ({ team, actor, body }) => invite(app, { team, actor }, body),
    'teams.reinvite': async ({ team, actor, params, query, reply }) => {
      const invitationLink = await reinvite(app, { team, actor }, params.userId)
      if (query.link !== 'true' || !invitationLink) return undefined
      reply.status(200)
      return { invitationLink }
    },
    'teams.change-role': async ({ team, actor, params, body }) =>
      void (await changeRole(app, { team, actor }, params.userId, body.role)),
    'teams.leave': async ({ team, actor }) => void (await leaveTeam(app, { team, actor })),
    'teams.remove-user': async ({ team, actor, params }) =>
      void (await removeUser(app, { team, actor }, params.userId)),
  }
}

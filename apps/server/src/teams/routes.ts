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

type TeamOperation = Extract<keyof Handlers, `teams.${string}` | `users.${string}`>

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
    'users.delete-me': ({ actor, body }) => deleteAccount(app, actor, body),
    'users.show-onboarding': ({ actor }) => app.accounts.saveOnboarding(actor.id, true),
    'users.hide-onboarding': ({ actor }) => app.accounts.saveOnboarding(actor.id, false),
    'users.accept-invitation': ({ actor, params }) => acceptInvitation(app, actor, params.teamId),
    'users.decline-invitation': ({ actor, params }) => declineInvitation(app, actor, params.teamId),
    'teams.list': ({ actor }) => listTeams(app, actor),
    'teams.create': ({ actor, body }) => createTeam(app, actor, body),
    'teams.get': ({ caller }) => getTeam(app, caller),
    'teams.update': ({ caller, body }) => renameTeam(app, caller, body),
    'teams.update-security': async ({ team, actor, body, headers }) =>
      // A recently added second factor counts.
      updateSecurity(app, { team, actor: (await askAgain(headers)) ?? actor }, body),
    'teams.delete': ({ caller }) => deleteTeam(app, localAgents, caller),
    'teams.invite': ({ caller, body }) => invite(app, caller, body),
    'teams.reinvite': async ({ caller, params, query, reply }) => {
      const invitationLink = await reinvite(app, caller, params.userId)
      if (query.link !== 'true' || !invitationLink) return undefined
      reply.status(200)
      return { invitationLink }
    },
    'teams.change-role': ({ caller, params, body }) => changeRole(app, caller, params.userId, body.role),
    'teams.leave': ({ caller }) => leaveTeam(app, caller),
    'teams.remove-user': ({ caller, params }) => removeUser(app, caller, params.userId),
  }
}

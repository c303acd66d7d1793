import type { App } from '../context.ts'
import type { Handlers } from '../http/handlers.ts'
import { createTeam, getTeam, listTeams, renameTeam } from './actions.ts'
import { saveOnboarding, selectOnboarding, selectTeamNames } from './store.ts'

type TeamOperation =
  | 'users.me'
  | 'users.show-onboarding'
  | 'users.hide-onboarding'
  | 'teams.list'
  | 'teams.create'
  | 'teams.get'
  | 'teams.update'

export function teamRoutes(app: App): Handlers<TeamOperation> {
  return {
    'users.me': async ({ actor }) => {
      const [teams, onboarding] = await Promise.all([selectTeamNames(app, actor.id), selectOnboarding(app, actor.id)])
      return {
        user: { id: actor.id, name: actor.name, email: actor.email },
        teams,
        invitations: [],
        onboarding,
        teamCreation: !app.config.teamCreationDisabled,
      }
    },
    'users.show-onboarding': async ({ actor }) => void (await saveOnboarding(app, actor.id, true)),
    'users.hide-onboarding': async ({ actor }) => void (await saveOnboarding(app, actor.id, false)),
    'teams.list': ({ actor }) => listTeams(app, actor),
    'teams.create': ({ actor, body }) => createTeam(app, actor, body),
    'teams.get': ({ team }) => getTeam(app, team),
    'teams.update': async ({ team, actor, body }) => void (await renameTeam(app, team, actor, body)),
  }
}

import { z } from 'zod'
import { endpoints } from './endpoint.ts'
import { memberStatuses, teamRoles } from './enums.ts'
import { BasicUser, Id, Name, TeamSlug, Timestamp } from './shapes.ts'

export const TeamWrite = z.object({ name: Name, slug: TeamSlug })
export const TeamStatistics = z.object({
  users: z.int(),
  projects: z.int(),
  nodes: z.int(),
  versions: z.int(),
  deployments: z.int(),
})
export const TeamMember = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string(),
  role: z.enum(teamRoles),
  status: z.enum(memberStatuses),
  lastLogin: Timestamp.nullish(),
})
export const Team = z.object({ id: Id, name: z.string(), slug: z.string(), statistics: TeamStatistics })
export const TeamDetails = Team.extend({ users: z.array(TeamMember) })
export const TeamOfUser = z.object({ id: Id, name: z.string(), slug: z.string(), role: z.enum(teamRoles) })
export const Me = z.object({
  user: BasicUser.extend({ email: z.string() }),
  teams: z.array(TeamOfUser),
  invitations: z.array(z.object({ id: Id, name: z.string(), slug: z.string() })),
  /** Whether the console shows the first-steps panel. */
  onboarding: z.boolean(),
})
const teamId = z.object({ teamId: Id })

export const teamEndpoints = endpoints({
  'users.me': {
    summary: 'Who am I, and in which teams',
    method: 'POST',
    path: '/api/users/me',
    status: 200,
    response: Me,
    errors: [],
    permission: 'session',
    audit: false,
  },
  'users.show-onboarding': {
    summary: 'Show the first-steps panel',
    method: 'PUT',
    path: '/api/users/me/preferences/onboarding',
    status: 204,
    errors: [],
    permission: 'session',
    audit: false,
  },
  'users.hide-onboarding': {
    summary: 'Hide the first-steps panel',
    method: 'DELETE',
    path: '/api/users/me/preferences/onboarding',
    status: 204,
    errors: [],
    permission: 'session',
    audit: false,
  },
  'teams.list': {
    summary: 'My teams with their members',
    method: 'GET',
    path: '/api/teams',
    status: 200,
    response: z.array(TeamDetails),
    errors: [],
    permission: 'session',
    audit: false,
  },
  'teams.create': {
    summary: 'Create a team and become its owner',
    method: 'POST',
    path: '/api/teams',
    body: TeamWrite,
    status: 201,
    response: Team,
    errors: ['alreadyExists'],
    permission: 'session',
    audit: 'team',
  },
  'teams.get': {
    summary: 'A team and its members',
    method: 'GET',
    path: '/api/teams/:teamId',
    params: teamId,
    status: 200,
    response: TeamDetails,
    errors: [],
    permission: 'teams.read',
    audit: false,
  },
  'teams.update': {
    summary: 'Rename a team or change its slug',
    method: 'PUT',
    path: '/api/teams/:teamId',
    params: teamId,
    body: TeamWrite,
    status: 204,
    errors: ['alreadyExists'],
    permission: 'teams.edit',
    audit: 'team',
  },
})

import { z } from 'zod'
import { endpoints } from './endpoint.ts'
import { memberStatuses, teamRoles } from './enums.ts'
import { limits, patterns } from './limits.ts'
import { BasicUser, Id, Name, TeamSlug, Timestamp } from './shapes.ts'

/** A domain of e-mail addresses, in lower case: `example.com`. */
const EmailDomain = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(patterns.emailDomain, 'Use a domain such as example.com')
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
  /** For invited users: the reason of the mail server why the last mail cannot be delivered. */
  mailProblem: z.string().nullish(),
})
export const Team = z.object({ id: Id, name: z.string(), slug: z.string(), statistics: TeamStatistics })
export const TeamSecurity = z.object({
  /** Members whose session has no second factor get only the information that they need one. */
  secondFactorRequired: z.boolean(),
  /** Only addresses of these domains may be invited and accept; empty: every address. */
  allowedDomains: z.array(EmailDomain).max(limits.allowedDomains),
})
export const TeamDetails = Team.extend({
  users: z.array(TeamMember),
  security: TeamSecurity,
  /** The delivery of invitations: by mail, by a link that the inviter passes on, or not at all (no mail server is configured). */
  invitations: z.enum(['mail', 'link', 'none']).optional(),
})
/** The link that a mail would contain, where no mail server is configured, and only for members who may invite. */
const InvitationLink = z.object({ invitationLink: z.url().nullish() })
export const InvitationWrite = z.object({
  email: z.email().max(320),
  firstName: z.string().trim().min(1).max(16),
  lastName: z.string().trim().max(16).nullish(),
  captcha: z.string().max(8_192).nullish(),
})
export const TeamOfUser = z.object({ id: Id, name: z.string(), slug: z.string(), role: z.enum(teamRoles) })
export const Me = z.object({
  user: BasicUser.extend({ email: z.string() }),
  teams: z.array(TeamOfUser),
  invitations: z.array(z.object({ id: Id, name: z.string(), slug: z.string() })),
  /** Whether the console shows the first-steps panel. */
  onboarding: z.boolean(),
  /** False: this installation does not let users create teams. */
  teamCreation: z.boolean(),
  /** The session was created by a code of recovery or invitation: a new password is required first. */
  recovered: z.boolean().optional(),
})

export const teamEndpoints = endpoints({
  'users.me': {
    summary: 'Get your user and your teams',
    route: 'POST /api/users/me',
    response: Me,
    permission: 'session',
    audit: false,
    pendingSession: true,
    token: 'read',
  },
  'users.delete-me': {
    summary: 'Delete your account',
    route: 'DELETE /api/users/me',
    body: z.object({
      /** The address of the account as a confirmation, so that an account is not deleted by mistake. */
      email: z.string().max(320),
    }),
    errors: ['preconditionFailed', 'serviceUnavailable'],
    permission: 'session',
    audit: false,
    token: 'never',
    recentSignIn: true,
  },
  'users.show-onboarding': {
    summary: 'Show the first-steps panel',
    route: 'PUT /api/users/me/preferences/onboarding',
    permission: 'session',
    audit: false,
  },
  'users.hide-onboarding': {
    summary: 'Hide the first-steps panel',
    route: 'DELETE /api/users/me/preferences/onboarding',
    permission: 'session',
    audit: false,
  },
  'teams.list': {
    summary: 'List your teams with their members',
    route: 'GET /api/teams',
    response: z.array(TeamDetails),
    permission: 'session',
  },
  'teams.create': {
    summary: 'Create a team and become its owner',
    route: 'POST /api/teams',
    body: TeamWrite,
    status: 201,
    response: Team,
    errors: ['alreadyExists'],
    permission: 'session',
    audit: 'team',
    auditTeam: 'created',
    token: 'never',
  },
  'teams.get': {
    summary: 'Get a team and its members',
    route: 'GET /api/teams/:teamId',
    response: TeamDetails,
    permission: 'teams.read',
  },
  'teams.update': {
    summary: 'Update the name or the slug of a team',
    route: 'PUT /api/teams/:teamId',
    body: TeamWrite,
    errors: ['alreadyExists'],
    permission: 'teams.edit',
    audit: 'team',
  },
  'teams.update-security': {
    summary: 'Update the sign-in policy: required second factor, allowed email domains',
    route: 'PUT /api/teams/:teamId/security',
    body: TeamSecurity,
    errors: ['preconditionFailed'],
    permission: 'teams.security',
    audit: 'team',
    token: 'never',
  },
  'teams.delete': {
    summary: 'Delete a team and everything in it; running containers keep running',
    route: 'DELETE /api/teams/:teamId',
    errors: ['preconditionFailed'],
    permission: 'teams.delete',
    audit: 'team',
    auditTeam: 'deleted',
    token: 'never',
  },
  'teams.invite': {
    summary: 'Invite a user by email',
    route: 'POST /api/teams/:teamId/users',
    body: InvitationWrite,
    status: 201,
    response: TeamMember.extend(InvitationLink.shape),
    errors: ['alreadyExists', 'preconditionFailed', 'tooManyRequests', 'serviceUnavailable'],
    permission: 'team-members.invite',
    audit: 'team-member',
    token: 'never',
  },
  'teams.reinvite': {
    summary: 'Renew an invitation by a week, with a new mail or with `link=true` a link',
    route: 'POST /api/teams/:teamId/users/:userId/reinvite',
    query: z.object({ link: z.enum(['true', 'false']).optional() }),
    status: 204,
    response: InvitationLink.optional(),
    errors: ['preconditionFailed', 'tooManyRequests', 'serviceUnavailable'],
    permission: 'team-members.invite',
    audit: 'team-member',
    token: 'never',
  },
  'teams.change-role': {
    summary: "Change a member's role; `owner` hands over or shares the ownership",
    route: 'PUT /api/teams/:teamId/users/:userId/role',
    body: z.object({ role: z.enum(teamRoles) }),
    errors: ['preconditionFailed'],
    permission: 'team-members.roles',
    audit: 'team-member',
    token: 'never',
  },
  'teams.leave': {
    summary: 'Leave a team; not possible for its last owner',
    route: 'DELETE /api/teams/:teamId/users/leave',
    errors: ['preconditionFailed'],
    permission: 'teams.read',
    audit: 'team-member',
    pendingSession: true,
    token: 'never',
  },
  'teams.remove-user': {
    summary: 'Remove a member or revoke an invitation',
    route: 'DELETE /api/teams/:teamId/users/:userId',
    errors: ['preconditionFailed'],
    permission: 'team-members.invite',
    audit: 'team-member',
    token: 'never',
  },
  'users.accept-invitation': {
    summary: 'Accept an invitation to a team',
    route: 'POST /api/users/me/invitations/:teamId',
    errors: ['preconditionFailed'],
    permission: 'session',
    // The code of an invitation proves the address, so the user may answer it before they set a password.
    pendingSession: true,
    audit: 'invitation',
    token: 'never',
  },
  'users.decline-invitation': {
    summary: 'Decline an invitation',
    route: 'DELETE /api/users/me/invitations/:teamId',
    permission: 'session',
    // The code of an invitation proves the address, so the user may answer it before they set a password.
    pendingSession: true,
    audit: 'invitation',
    token: 'never',
  },
})

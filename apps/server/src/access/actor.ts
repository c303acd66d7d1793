import type { TeamRole, TokenScope } from '@crux/contract'
import type { AuthenticatedUser, SessionActor } from '../identity/index.ts'

/** The token of the request, and the scope that limits its owner's rights. */
export type Grant = { id: string; scope: TokenScope }

/** A user, signed in or using one of their tokens. */
export type UserActor = SessionActor | (AuthenticatedUser & { sessionId?: undefined; grant: Grant })
export type ServiceAccountActor = {
  kind: 'service-account'
  id: string
  name: string
  teamId: string
  sessionExpiresAt: Date
  sessionId?: undefined
  grant: Grant
}
/** It may start its own deployment and nothing else. `id` and `name` are the token's. */
export type DeploymentTokenActor = {
  kind: 'deployment-token'
  id: string
  name: string
  teamId: string
  deploymentId: string
  createdBy: string
  sessionExpiresAt: Date
  sessionId?: undefined
  grant: Grant
}
/** The author of a request. */
export type Actor = UserActor | ServiceAccountActor | DeploymentTokenActor

/** A user for whom the server acts without a request. */
export type AbsentUser = {
  kind: 'user'
  id: string
  name: string
  email: string
  sessionId?: undefined
  grant?: undefined
}

/** `role` is the actor's role in this team. */
export type TeamContext = { id: string; slug: string; name: string; role: TeamRole; secondFactorRequired: boolean }

/** A member, service account or token that acts in a team. */
export type Caller<A extends Actor = Actor> = { team: TeamContext; actor: A }

import type { Body, Contract, Operation, Params, Query, ResponseInput, TeamRole, TokenScope } from '@crux/contract'

type OfPerson = {
  kind: 'user'
  id: string
  name: string
  email: string
  /** When the session or the token expires. */
  sessionExpiresAt: Date
  /** The assurance of the session, or of the session that created the token: one factor or two. */
  aal: 'aal1' | 'aal2'
  /** The person signed in with a code of a recovery or invitation and has set no password since. */
  recovered: boolean
}
/** The token of the request, and the scope that limits its owner's rights. */
export type Grant = { id: string; scope: TokenScope }

/** A signed-in person. */
export type SessionActor = OfPerson & {
  sessionId: string
  /** When the person last authenticated in this session. */
  authenticatedAt: Date
  grant?: undefined
  recoveredAt?: Date | undefined
}
/** A person, signed in or using one of their tokens. */
export type UserActor = SessionActor | (OfPerson & { sessionId?: undefined; grant: Grant })
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

/** `role` is the actor's role in this team. */
export type TeamContext = { id: string; slug: string; name: string; role: TeamRole; secondFactorRequired: boolean }

/** Requests with an install token have no team; the handler finds the node's team by the token. */
type InTeam<O extends Operation> = Contract[O]['permission'] extends 'install-token' | 'registry-hook'
  ? undefined
  : Contract[O]['path'] extends `${string}:teamSlug${string}` | `${string}:teamId${string}`
    ? TeamContext
    : undefined
type ActorOf<O extends Operation> = Contract[O]['permission'] extends 'public' | 'install-token' | 'registry-hook'
  ? undefined
  : Contract[O] extends { token: 'never' }
    ? SessionActor
    : Contract[O]['permission'] extends 'session'
      ? UserActor
      : Actor

/**
 * A request that the guard accepted: parsed, authenticated, with the team and the right that the contract's endpoint
 * names.
 */
export type Input<O extends Operation> = {
  params: Params<O>
  query: Query<O>
  body: Body<O>
  team: InTeam<O>
  actor: ActorOf<O>
  requestId: string
  /** The raw headers, for handlers that relay cookies or check install tokens themselves. */
  headers: Record<string, string | string[] | undefined>
  /** The client's address; taken from a proxy only if that proxy is trusted. */
  address: string
  /** Writes the audit entry now, for handlers that have made the change and answer much later. */
  recorded(): Promise<void>
  /** Adds data to the audit entry that results from the request but is not part of it. */
  audited(data: Record<string, unknown>): void
  /** Response data beside the body: Set-Cookie, Location, another status. */
  reply: {
    header(name: string, value: string | string[]): void
    status(code: number): void
    /** Runs when the caller has disconnected or was answered. */
    onClose(fn: () => void): void
  }
}

/** A missing handler, a wrong response or a forgotten body does not compile. */
export type Handlers<O extends Operation = Operation> = { [E in O]: (request: Input<E>) => Promise<ResponseInput<E>> }

import type { Body, Contract, Operation, Params, Query, ResponseInput, TeamRole, TokenScope } from '@crux/contract'

type OfPerson = {
  kind: 'user'
  id: string
  name: string
  email: string
  /** When the session or the token ends by itself. */
  sessionExpiresAt: Date
  /** What the session was proven by, or that which made the token: one factor or two. */
  aal: 'aal1' | 'aal2'
  /** Came in by a code of recovery or invitation and has set no password since. */
  recovered: boolean
}
/** The token that was shown, and how much of its holder's rights it carries. */
export type Grant = { id: string; scope: TokenScope }

/** A signed-in person. */
export type SessionActor = OfPerson & {
  sessionId: string
  /** When the person last proved who they are in this session. */
  authenticatedAt: Date
  grant?: undefined
  recoveredAt?: Date | undefined
}
/** A person, signed in or by a token of theirs. */
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
/** May start its own deployment and nothing else. `id` and `name` are the token's. */
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
/** Who acts. */
export type Actor = UserActor | ServiceAccountActor | DeploymentTokenActor

/** `role` is the actor's in this team. */
export type TeamContext = { id: string; slug: string; name: string; role: TeamRole; secondFactorRequired: boolean }

/** Who shows an install token is in no team; the handler finds the node's by the token. */
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

/** A request that the guard let pass: parsed, signed in, with the team and the right that the contract's row names. */
export type Input<O extends Operation> = {
  params: Params<O>
  query: Query<O>
  body: Body<O>
  team: InTeam<O>
  actor: ActorOf<O>
  requestId: string
  /** The raw headers, for what relays (cookies) or authorises itself (install tokens). */
  headers: Record<string, string | string[] | undefined>
  /** The client's address, from a proxy only if that proxy is trusted. */
  address: string
  /** Writes the audit entry now: for who has made the change and answers much later. */
  recorded(): Promise<void>
  /** Adds to the audit entry what followed from the request and does not stand in it. */
  audited(data: Record<string, unknown>): void
  /** For answers beside the body: Set-Cookie, Location, another status. */
  reply: {
    header(name: string, value: string | string[]): void
    status(code: number): void
    /** Runs when the caller has gone or was answered. */
    onClose(fn: () => void): void
  }
}

/** A missing handler, a wrong answer or a forgotten body does not compile. */
export type Handlers<O extends Operation = Operation> = { [E in O]: (request: Input<E>) => Promise<ResponseInput<E>> }

import type { Answer, Body, Contract, Operation, Params, Query, TeamRole } from '@crux/contract'

/** Who acts: a signed-in person. */
export type Actor = {
  kind: 'user'
  id: string
  name: string
  email: string
  sessionId: string
  sessionExpiresAt: Date
  /** What the session was proven by: one factor or two. */
  aal: 'aal1' | 'aal2'
  /** Came in by a code of recovery or invitation and has set no password since. */
  recovered: boolean
}

/** `role` is the actor's in this team. */
export type TeamContext = { id: string; slug: string; name: string; role: TeamRole; secondFactorRequired: boolean }

/** Who shows an install token is in no team; the handler finds the node's by the token. */
type InTeam<O extends Operation> = Contract[O]['permission'] extends 'install-token'
  ? undefined
  : Contract[O]['path'] extends `${string}:teamSlug${string}` | `${string}:teamId${string}`
    ? TeamContext
    : undefined
type ActorOf<O extends Operation> = Contract[O]['permission'] extends 'public' | 'install-token' ? undefined : Actor

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
  /** For answers beside the body: Set-Cookie, Location, another status. */
  reply: { header(name: string, value: string | string[]): void; status(code: number): void }
}

/** A missing handler, a wrong answer or a forgotten body does not compile. */
export type Handlers<O extends Operation = Operation> = { [E in O]: (request: Input<E>) => Promise<Answer<E>> }

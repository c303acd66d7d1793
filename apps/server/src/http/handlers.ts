import type { Body, Contract, Operation, Params, Query, ResponseInput } from '@crux/contract'
import type { Actor, TeamContext, UserActor } from '../access/index.ts'
import type { SessionActor } from '../identity/index.ts'

/** Requests with an install token have no team; the handler finds the node's team by the token. */
type InTeam<O extends Operation> = Contract[O]['permission'] extends 'install-token' | 'registry-hook' | 'pipeline-hook'
  ? undefined
  : Contract[O]['path'] extends `${string}:teamSlug${string}` | `${string}:teamId${string}`
    ? TeamContext
    : undefined
type ActorOf<O extends Operation> = Contract[O]['permission'] extends
  | 'public'
  | 'install-token'
  | 'registry-hook'
  | 'pipeline-hook'
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
  /** Both together, as operations take them. */
  caller: { team: InTeam<O>; actor: ActorOf<O> }
  requestId: string
  /** The raw headers, for handlers that relay cookies or check install tokens themselves. */
  headers: Record<string, string | string[] | undefined>
  /** The client's address; taken from a proxy only if that proxy is trusted. */
  address: string
  /** Writes the audit entry now, for handlers that have made the change and answer much later. */
  recorded(): Promise<void>
  /** Adds data to the audit entry that results from the request but is not part of it. */
  audited(data: Record<string, unknown>): void
  /** For an endpoint whose body names the team (`auditTeam: 'named'`): the caller was found to be a member of this one. */
  actsIn(team: TeamContext): void
  /** Response data beside the body: Set-Cookie, Location, another status. */
  reply: {
    header(name: string, value: string | string[]): void
    status(code: number): void
    /** Runs when the caller has disconnected or was answered. */
    onClose(fn: () => void): void
  }
}

/** A missing handler, a wrong response or a forgotten body does not compile. */
export type Handlers<O extends Operation = Operation> = {
  [E in O]: (request: Input<E>) => Promise<ResponseInput<E> extends undefined ? void : ResponseInput<E>>
}

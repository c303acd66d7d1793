import type { ChannelName, Channels, ClientData, ClientMessage, ServerData, ServerMessage } from '@crux/contract'
import type { z } from 'zod'
import type { Actor, TeamContext } from '../http/handlers.ts'

/** One socket on one channel. */
export type Subscriber<C extends ChannelName> = {
  /** Unique per subscription: also the editor's id, and the `origin` of bus events. */
  id: string
  path: string
  params: z.output<Channels[C]['params']>
  actor: Actor
  team: TeamContext
  /** Queues a message within this subscriber's bound. */
  send<M extends ServerMessage<C>>(type: M, data: ServerData<C, M>): void
  /** Tells of a failure outside of a message's handler: an `error` frame with this path. */
  fail(error: unknown): void
  /** Bytes that wait in this socket: producers of bulk pause above their bound. */
  buffered(): number
  /** Resolves when the buffer has drained below its low mark, or the subscriber is gone. */
  drained(): Promise<void>
  /** Runs when the subscriber leaves, however that happens. */
  onLeave(fn: () => void): void
  left: boolean
  /** Runs when the role in the team becomes another while the subscription goes on; `team.role` is the new one by then. */
  onRoleChange(fn: () => void): void
}

/** What a channel does. The hub has checked session, team, right and shape before any of these runs. */
export type ChannelHandler<C extends ChannelName> = {
  /** After the right was checked; throws notFound when the ids of the path do not belong to the team. */
  open(subscriber: Subscriber<C>): Promise<void>
  messages: { [M in ClientMessage<C>]: (subscriber: Subscriber<C>, data: ClientData<C, M>) => Promise<void> }
}

export type ChannelHandlers<C extends ChannelName = ChannelName> = { [N in C]: ChannelHandler<N> }

import type { ChannelName, Channels, ClientData, ClientMessage, ServerData, ServerMessage } from '@crux/contract'
import type { z } from 'zod'
import type { Actor, TeamContext } from '../access/index.ts'

/** One socket on one channel. */
export type Subscriber<C extends ChannelName> = {
  /** Unique per subscription; also the editor's id, and the `origin` of bus events. */
  id: string
  path: string
  params: z.output<Channels[C]['params']>
  actor: Actor
  team: TeamContext
  /** Queues a message within this subscriber's limit. */
  send<M extends ServerMessage<C>>(type: M, data: ServerData<C, M>): void
  /** Reports a failure outside of a message's handler: an `error` frame with this path. */
  fail(error: unknown): void
  /** Bytes that wait in this socket: producers of bulk data pause above their limit. */
  buffered(): number
  /** Resolves when the buffer has drained below its low mark, or the subscriber has left. */
  drained(): Promise<void>
  /** Runs when the subscriber leaves, for any reason. */
  onLeave(fn: () => void): void
  left: boolean
  /** Runs when the role in the team changes during the subscription; `team.role` already is the new one. */
  onRoleChange(fn: () => void): void
}

/** The hub handles these for every channel that declares them. */
export type PresenceMessage = 'focus-input' | 'blur-input'

/** The implementation of a channel. The hub has checked session, team, right and shape before any of these runs. */
export type ChannelHandler<C extends ChannelName> = {
  /** Runs after the right was checked; throws notFound when the ids of the path do not belong to the team. */
  open(subscriber: Subscriber<C>): Promise<void>
  messages: {
    [M in Exclude<ClientMessage<C>, PresenceMessage>]: (
      subscriber: Subscriber<C>,
      data: ClientData<C, M>,
    ) => Promise<void>
  }
}

export type ChannelHandlers<C extends ChannelName = ChannelName> = { [N in C]: ChannelHandler<N> }

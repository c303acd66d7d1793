import { type ChannelName, type ClientMessage, contract, type Operation } from './contract.ts'
import type { EndpointSpec } from './endpoint.ts'
import { liveChannels } from './live-channels.ts'

/** A message that a client may send on a live channel: `node/delete-container`. */
export type LiveAction = { [C in ChannelName]: `${C}/${ClientMessage<C>}` }[ChannelName]
/** An action that a permission allows or refuses: an operation, or a live message. */
export type Action = Operation | LiveAction

/**
 * The permission of each action, from its endpoint. The build of the console replaces this module by the plain list (apps/console/vite.config.ts), so
 * that a button can show why it is disabled without loading every schema.
 */
export const needs: Readonly<Record<Action, EndpointSpec['permission']>> = Object.fromEntries([
  ...Object.entries(contract).map(([operation, { permission }]) => [operation, permission]),
  ...Object.entries(liveChannels).flatMap(([channel, { client }]) =>
    Object.entries(client).map(([message, { permission }]) => [`${channel}/${message}`, permission]),
  ),
])

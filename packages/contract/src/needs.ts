import { type ChannelName, type ClientMessage, contract, type Operation } from './contract.ts'
import type { EndpointSpec } from './endpoint.ts'
import { liveChannels } from './live-channels.ts'

/** A message that a client may send on a live channel: `node/delete-container`. */
export type LiveAction = { [C in ChannelName]: `${C}/${ClientMessage<C>}` }[ChannelName]
/** What somebody may do or be refused: an operation, or a live message. */
export type Action = Operation | LiveAction

/**
 * The right that each deed needs, from its row in the table. The build of the console puts the bare list in this module's place
 * (apps/console/vite.config.ts), so that a button can say why it is off without loading every schema.
 */
export const needs: Readonly<Record<Action, EndpointSpec['permission']>> = Object.fromEntries([
  ...Object.entries(contract).map(([operation, { permission }]) => [operation, permission]),
  ...Object.entries(liveChannels).flatMap(([channel, { client }]) =>
    Object.entries(client).map(([message, { permission }]) => [`${channel}/${message}`, permission]),
  ),
])

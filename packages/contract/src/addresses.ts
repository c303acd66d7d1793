import { type ChannelName, contract, type Operation } from './contract.ts'
import type { EndpointSpec } from './endpoint.ts'
import type { ChannelSpec } from './live.ts'
import { liveChannels } from './live-channels.ts'

// All that a caller needs before the first answer or message. The build of the console replaces this module by the plain lists
// (apps/console/vite.config.ts), so that a browser does not load every schema to call one endpoint.

/** The method and path of each operation. */
export const addresses: Readonly<Record<Operation, Pick<EndpointSpec, 'method' | 'path'>>> = contract
/** The path of each channel. */
export const channelPaths: Readonly<Record<ChannelName, Pick<ChannelSpec, 'path'>>> = liveChannels

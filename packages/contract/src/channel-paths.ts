import type { ChannelName } from './contract.ts'
import { liveChannels } from './live-channels.ts'

/**
 * The path of each channel, which is all that a page needs before the first message. The build of the console replaces this module by the plain list
 * (apps/console/vite.config.ts), so that pages do not wait for the schemas of all messages.
 */
export const channelPaths: Readonly<Record<ChannelName, string>> = Object.fromEntries(
  Object.entries(liveChannels).map(([name, { path }]) => [name, path]),
) as Record<ChannelName, string>

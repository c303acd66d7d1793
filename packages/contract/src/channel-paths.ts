import type { ChannelName } from './contract.ts'
import { liveChannels } from './live-channels.ts'

/**
 * Where each channel is followed: what a page needs before the first message comes. The build of the console puts the bare list in
 * this module's place (apps/console/vite.config.ts), so that no page waits for the schemas of all messages.
 */
export const channelPaths: Readonly<Record<ChannelName, string>> = Object.fromEntries(
  Object.entries(liveChannels).map(([name, { path }]) => [name, path]),
) as Record<ChannelName, string>

/** The schemas of all messages are a separate module, which is loaded while the socket opens. */
export { LiveError, liveChannels } from '@crux/contract'

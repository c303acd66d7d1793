/** The schemas of all messages, in a module of its own: it is loaded while the socket opens. */
export { LiveError, liveChannels } from '@crux/contract'

export { createAudience } from './audience.ts'
export type { ChannelHandler, ChannelHandlers, Subscriber } from './handlers.ts'
export { createLiveHub } from './hub.ts'

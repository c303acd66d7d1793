export type { ChannelHandler, ChannelHandlers, Subscriber } from './handlers.ts'
export { createLiveHub } from './hub.ts'

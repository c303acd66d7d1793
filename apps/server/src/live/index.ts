export type { ChannelHandler, ChannelHandlers, Subscriber } from './handlers.ts'
export { createLiveHub } from './hub.ts'
export { createQueue } from './queue.ts'

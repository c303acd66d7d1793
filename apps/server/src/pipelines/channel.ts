import type { App } from '../context.ts'
import type { ChannelHandlers } from '../live/index.ts'

export const pipelineChannels = (_app: App): ChannelHandlers<'pipelines'> => ({
  pipelines: { open: async () => undefined, messages: {} },
})

export { pipelineChannels } from './channel.ts'
export { pipelineRoutes } from './routes.ts'
export { startWatchedRuns } from './watch.ts'
export { createPipelineWork } from './work.ts'

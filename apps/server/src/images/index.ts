export { versionChannels } from './channel.ts'
export { imageRoutes } from './routes.ts'
export { selectImages } from './store.ts'

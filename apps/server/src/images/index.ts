export { versionChannels } from './channel.ts'
export { imagesOf } from './images-of-version.ts'
export { imageRoutes } from './routes.ts'

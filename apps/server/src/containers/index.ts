export { containerChannels } from './channel.ts'
export { containerRoutes } from './routes.ts'

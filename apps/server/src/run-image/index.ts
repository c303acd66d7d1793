export { runImageRoutes } from './routes.ts'

export { prefixDataRoutes } from './routes.ts'

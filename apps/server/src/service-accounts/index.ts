export { serviceAccountRoutes } from './routes.ts'

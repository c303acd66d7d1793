export { createProjectWithImages } from './actions.ts'
export { importRoutes } from './routes.ts'

export { addVersionWithImages, createProjectWithImages, type NewProject, type NewVersion } from './actions.ts'
export { prepareImages } from './prepare.ts'
export { importRoutes } from './routes.ts'

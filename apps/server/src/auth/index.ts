export { settingsPassed } from './recovered.ts'
export { authRoutes } from './routes.ts'

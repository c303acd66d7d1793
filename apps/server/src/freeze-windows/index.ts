export { freezeWindowRoutes } from './routes.ts'
export { type Freeze, findFreezes, hasFreezeWindows, listFreezeWindows } from './windows.ts'

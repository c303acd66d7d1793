export { freezeWindowRoutes } from './routes.ts'
export { type Freeze, findFreezeOfStart, findFreezes, hasFreezeWindows, listFreezeWindows } from './windows.ts'

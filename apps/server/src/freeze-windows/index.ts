export { freezeWindowRoutes } from './routes.ts'
export { type Freeze, findFreezeOfStart, findFreezes, listFreezeWindows, listWithFreezeWindows } from './windows.ts'

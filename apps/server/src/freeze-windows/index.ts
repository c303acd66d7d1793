export { freezesChanged } from './events.ts'
export { freezeWindowRoutes } from './routes.ts'
export {
  type Freeze,
  findFreezeOfStart,
  findFreezes,
  listFreezeWindows,
  listWithFreezeWindows,
  lockStarts,
} from './windows.ts'

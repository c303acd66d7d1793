import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import { createFreezeWindow, deleteFreezeWindow, updateFreezeWindow } from './actions.ts'

type Operations = Extract<keyof Handlers, `packages.${'create' | 'update' | 'delete'}-freeze-window`>

export const freezeWindowRoutes = (app: App): Handlers<Operations> => ({
  'packages.create-freeze-window': ({ caller, params, body }) => createFreezeWindow(app, caller, params, body),
  'packages.update-freeze-window': ({ caller, params, body }) => updateFreezeWindow(app, caller, params, body),
  'packages.delete-freeze-window': ({ caller, params }) => deleteFreezeWindow(app, caller, params),
})

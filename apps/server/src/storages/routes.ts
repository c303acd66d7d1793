import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import {
  changeStorage,
  checkStorage,
  connectStorage,
  getStorage,
  listStorageOptions,
  listStorages,
  removeStorage,
} from './actions.ts'

type Operations = Extract<keyof Handlers, `storages.${string}`>

export const storageRoutes = (app: App): Handlers<Operations> => ({
  'storages.list': ({ caller }) => listStorages(app, caller),
  'storages.options': ({ caller }) => listStorageOptions(app, caller),
  'storages.get': ({ caller, params }) => getStorage(app, caller, params.storageId),
  'storages.create': ({ caller, body }) => connectStorage(app, caller, body),
  'storages.update': ({ caller, params, body }) => changeStorage(app, caller, params.storageId, body),
  'storages.delete': ({ caller, params }) => removeStorage(app, caller, params.storageId),
  'storages.check': ({ caller, params }) => checkStorage(app, caller, params.storageId),
})

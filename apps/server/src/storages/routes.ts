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
  'storages.list': ({ team }) => listStorages(app, team),
  'storages.options': ({ team }) => listStorageOptions(app, team),
  'storages.get': ({ team, params }) => getStorage(app, team, params.storageId),
  'storages.create': ({ team, actor, body }) => connectStorage(app, { team, actor }, body),
  'storages.update': async ({ team, actor, params, body }) => {
    await changeStorage(app, { team, actor }, params.storageId, body)
    return undefined
  },
  'storages.delete': async ({ team, params }) => {
    await removeStorage(app, team, params.storageId)
    return undefined
  },
  'storages.check': ({ team, params }) => checkStorage(app, team, params.storageId),
})

import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import { changeRegistry, connectRegistry, getRegistry, listRegistries, removeRegistry } from './actions.ts'
import { hearRegistry } from './hook.ts'
import { createRegistryToken, deleteRegistryToken } from './hook-token.ts'

type RegistryOperation = Extract<keyof Handlers, `registries.${string}`>

export function registryRoutes(app: App): Handlers<RegistryOperation> {
  return {
    'registries.list': ({ team }) => listRegistries(app, team),
    'registries.get': ({ team, params }) => getRegistry(app, team, params.registryId),
    'registries.create': ({ team, actor, body }) => connectRegistry(app, { team, actor }, body),
    'registries.update': async ({ team, actor, params, body }) =>
      void (await changeRegistry(app, { team, actor }, params.registryId, body)),
    'registries.delete': async ({ team, params }) => void (await removeRegistry(app, team, params.registryId)),
    'registries.create-token': ({ team, actor, params, body }) =>
      createRegistryToken(app, { team, actor }, params.registryId, body),
    'registries.delete-token': async ({ team, params }) =>
      void (await deleteRegistryToken(app, team, params.registryId)),
    'registries.hook': async ({ params, body }) => void (await hearRegistry(app, params, body)),
  }
}

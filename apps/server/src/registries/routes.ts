import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import { changeRegistry, connectRegistry, getRegistry, listRegistries, removeRegistry } from './actions.ts'
import { hearRegistry } from './hook.ts'
import { createRegistryToken, deleteRegistryToken } from './hook-token.ts'

type RegistryOperation = Extract<keyof Handlers, `registries.${string}`>

export function registryRoutes(app: App): Handlers<RegistryOperation> {
  return {
    'registries.list': ({ caller }) => listRegistries(app, caller),
    'registries.get': ({ caller, params }) => getRegistry(app, caller, params.registryId),
    'registries.create': ({ caller, body }) => connectRegistry(app, caller, body),
    'registries.update': ({ caller, params, body }) => changeRegistry(app, caller, params.registryId, body),
    'registries.delete': ({ caller, params }) => removeRegistry(app, caller, params.registryId),
    'registries.create-token': ({ caller, params, body }) => createRegistryToken(app, caller, params.registryId, body),
    'registries.delete-token': ({ caller, params }) => deleteRegistryToken(app, caller, params.registryId),
    'registries.hook': ({ params, body }) => hearRegistry(app, params, body),
  }
}

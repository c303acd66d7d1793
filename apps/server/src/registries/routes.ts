import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import { changeRegistry, connectRegistry, getRegistry, listRegistries, removeRegistry } from './actions.ts'
import { listDeliveries } from './deliveries.ts'
import { createHookHandlers } from './hook.ts'
import { createHookSecret, deleteHookSecret, listHooks } from './hook-secret.ts'
import { createRegistryToken, deleteRegistryToken } from './hook-token.ts'

type RegistryOperation = Extract<keyof Handlers, `registries.${string}`>

export function registryRoutes(app: App): Handlers<RegistryOperation> {
  const hooks = createHookHandlers(app)
  return {
    'registries.list': ({ caller }) => listRegistries(app, caller),
    'registries.get': ({ caller, params }) => getRegistry(app, caller, params.registryId),
    'registries.create': ({ caller, body }) => connectRegistry(app, caller, body),
    'registries.update': ({ caller, params, body }) => changeRegistry(app, caller, params.registryId, body),
    'registries.delete': ({ caller, params }) => removeRegistry(app, caller, params.registryId),
    'registries.create-token': ({ caller, params, body }) => createRegistryToken(app, caller, params.registryId, body),
    'registries.delete-token': ({ caller, params }) => deleteRegistryToken(app, caller, params.registryId),
    'registries.list-hooks': ({ caller, params }) => listHooks(app, caller, params.registryId),
    'registries.list-deliveries': ({ caller, params }) => listDeliveries(app, caller, params.registryId),
    'registries.create-hook-secret': ({ caller, params }) =>
      createHookSecret(app, caller, params.registryId, params.kind),
    'registries.delete-hook-secret': ({ caller, params }) =>
      deleteHookSecret(app, caller, params.registryId, params.kind),
    'registries.hook': ({ params, body }) => hooks.v2(params, body),
    'registries.hook-github': ({ params, headers, body }) => hooks.github(params, headers, body),
    'registries.hook-harbor': ({ params, body }) => hooks.harbor(params, body),
    'registries.hook-hub': ({ params, body }) => hooks.hub(params, body),
  }
}

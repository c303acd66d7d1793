import { z } from 'zod'
import { ConfigChange, ContainerConfig } from './container-configurations.ts'
import { Deployment } from './deployments.ts'
import { endpoints } from './endpoint.ts'
import { Description, Id, Name } from './shapes.ts'

/** A named base layer that several deployments share. */
export const ConfigBundle = z.object({ id: Id, name: z.string(), description: z.string().nullish(), configId: Id })
export type ConfigBundle = z.output<typeof ConfigBundle>
export const ConfigBundleDetails = ConfigBundle.extend({
  config: ContainerConfig,
  /** The number of deployments that use it; a bundle in use cannot be deleted. */
  deploymentCount: z.int(),
})
export const ConfigBundleCreate = z.object({ name: Name, description: Description })
export const ConfigBundleUpdate = z.object({
  name: Name.optional(),
  description: Description,
  /** Changed fields of the bundle's own configuration. An `id` in it is ignored. */
  ...ConfigChange.shape,
})
const bundles = '/api/:teamSlug/config-bundles' as const

export const configBundleEndpoints = endpoints({
  'config-bundles.list': {
    summary: 'List the config bundles of a team',
    route: `GET ${bundles}`,
    response: z.array(ConfigBundle),
    permission: 'config-bundles.read',
  },
  'config-bundles.get': {
    summary: 'Get a config bundle',
    route: `GET ${bundles}/:configBundleId`,
    response: ConfigBundleDetails,
    permission: 'config-bundles.read',
  },
  'config-bundles.deployments': {
    summary: 'List the deployments that use a config bundle, newest first',
    route: `GET ${bundles}/:configBundleId/deployments`,
    response: z.array(Deployment),
    permission: 'config-bundles.read',
  },
  'config-bundles.create': {
    summary: 'Create an empty config bundle',
    route: `POST ${bundles}`,
    body: ConfigBundleCreate,
    status: 201,
    response: ConfigBundleDetails,
    errors: ['alreadyExists'],
    permission: 'config-bundles.edit',
    audit: 'config-bundle',
  },
  'config-bundles.update': {
    summary: "Change a bundle's name, description or configuration",
    route: `PATCH ${bundles}/:configBundleId`,
    body: ConfigBundleUpdate,
    configInput: true,
    errors: ['alreadyExists', 'keysAreUnique'],
    permission: 'config-bundles.edit',
    audit: 'config-bundle',
    auditBody: false,
  },
  'config-bundles.delete': {
    summary: 'Delete a config bundle that no deployment uses',
    route: `DELETE ${bundles}/:configBundleId`,
    errors: ['preconditionFailed'],
    permission: 'config-bundles.edit',
    audit: 'config-bundle',
  },
})

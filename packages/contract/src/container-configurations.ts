import { z } from 'zod'
import { ContainerConfigFields, containerConfigFieldNames } from './container-configuration.ts'
import { endpoints } from './endpoint.ts'
import { containerConfigTypes, nodeTypes, projectTypes, versionTypes } from './enums.ts'
import { limits } from './limits.ts'
import { BasicUser, basic, Id, Page, paginated, Timestamp } from './shapes.ts'

export const ContainerConfig = ContainerConfigFields.extend({
  id: Id,
  type: z.enum(containerConfigTypes),
  updatedAt: Timestamp.nullish(),
  updatedBy: z.string().nullish(),
  revision: z.int().optional(),
})
export type ContainerConfig = z.output<typeof ContainerConfig>
export const ContainerConfigDetails = ContainerConfig.extend({
  parent: z.object({ id: Id, name: z.string(), mutable: z.boolean() }),
})

/**
 * A change of a configuration: whole fields are replaced, null clears one, `resetSection` clears one at once. With `revision`, the patch is compared
 * with the changes since that revision. `keys` limits a list field to single rows by key, so that two users who edit different rows do not overwrite
 * each other.
 */
export const ContainerConfigPatch = z.object({
  config: ContainerConfigFields.partial().optional(),
  resetSection: z.enum(containerConfigFieldNames).optional(),
  revision: z.int().optional(),
  keys: z.record(z.string(), z.array(z.string().max(1_024)).max(100)).optional(),
  /** By list: ids of rows that are being typed and keep their stored values. The server adds the unfinished rows that it detects itself. */
  typing: z.record(z.string(), z.array(z.string().max(64)).max(limits.listEntries)).optional(),
})
/** A configuration in the body of another resource. */
export const ConfigChange = ContainerConfigPatch.pick({ config: true, typing: true })
export type ContainerConfigPatch = z.output<typeof ContainerConfigPatch>

const Named = z.object({ id: Id, name: z.string() })
export const ContainerConfigRelations = z.object({
  project: basic(projectTypes).optional(),
  version: basic(versionTypes).optional(),
  image: z
    .object({
      id: Id,
      name: z.string(),
      tag: z.string().nullish(),
      config: ContainerConfig,
      registry: Named,
      labels: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
  deployment: z
    .object({
      id: Id,
      prefix: z.string(),
      status: z.string(),
      mutable: z.boolean(),
      node: basic(nodeTypes),
      publicKey: z.string().nullish(),
      /** The weaker layers of an instance, and the layers below the deployment's own one. */
      config: ContainerConfig.optional(),
      configBundles: z.array(z.object({ id: Id, name: z.string(), config: ContainerConfig })).optional(),
      instances: z.array(
        z.object({
          id: Id,
          configId: Id,
          imageName: z.string(),
          containerName: z.string(),
          /** The configuration of its image, and the keys of secrets that each of the two layers names. */
          imageConfigId: Id.optional(),
          secretKeys: z.array(z.string()).optional(),
          imageSecretKeys: z.array(z.string()).optional(),
        }),
      ),
    })
    .optional(),
  configBundle: Named.optional(),
})

/** A configuration of the team with its owner, for comparing and copying. */
export const ContainerConfigChoice = z.object({
  id: Id,
  type: z.enum(containerConfigTypes),
  name: z.string(),
  /** The context of a configuration, such as "shop 1.2.0" or "shop-prod on node-3", which distinguishes equal names. */
  place: z.string(),
  updatedAt: Timestamp.nullish(),
})
/** One stored state of a configuration. The history contains no values of secrets. */
export const ContainerConfigRevision = z.object({
  revision: z.int(),
  updatedAt: Timestamp,
  updatedBy: BasicUser.nullish(),
  /** The parts that changed: `environment.LOG_LEVEL`, `ports`. */
  changed: z.array(z.string()),
})
export type ContainerConfigRevision = z.output<typeof ContainerConfigRevision>

const history = '/api/:teamSlug/container-configurations/:configId/history' as const

export const containerConfigurationEndpoints = endpoints({
  'container-configurations.get': {
    summary: 'Get one layer of a container configuration',
    route: 'GET /api/:teamSlug/container-configurations/:configId',
    response: ContainerConfigDetails,
    permission: 'container-configurations.read',
  },
  'container-configurations.relations': {
    summary: 'Get the image, bundle, deployment or instance that a configuration belongs to',
    route: 'GET /api/:teamSlug/container-configurations/:configId/relations',
    response: ContainerConfigRelations,
    permission: 'container-configurations.read',
  },
  'container-configurations.update': {
    summary: 'Update a configuration',
    route: 'PATCH /api/:teamSlug/container-configurations/:configId',
    body: ContainerConfigPatch,
    configInput: true,
    errors: ['patchConflict', 'keysAreUnique'],
    permission: 'container-configurations.edit',
    audit: 'container-configuration',
    auditBody: false,
  },
  'container-configurations.list': {
    summary: 'Find configurations of the team by name, to compare or copy them',
    route: 'GET /api/:teamSlug/container-configurations',
    query: Page.extend({ filter: z.string().max(255).optional(), type: z.enum(containerConfigTypes).optional() }),
    response: paginated(ContainerConfigChoice),
    permission: 'container-configurations.read',
  },
  'container-configurations.history': {
    summary: 'List the changes of a configuration, newest first',
    route: `GET ${history}`,
    query: Page,
    response: paginated(ContainerConfigRevision),
    permission: 'container-configurations.read',
  },
  'container-configurations.get-revision': {
    summary: 'Get an earlier state of a configuration',
    route: `GET ${history}/:revision`,
    response: ContainerConfigRevision.extend({ config: ContainerConfigFields }),
    permission: 'container-configurations.read',
  },
  'container-configurations.restore': {
    summary: 'Restore an earlier state as a new change; secrets keep their values',
    route: `POST ${history}/:revision/restore`,
    /** The revision that the caller has loaded: a later change is a conflict. */
    body: z.object({ revision: z.int().optional() }).optional(),
    errors: ['patchConflict', 'keysAreUnique'],
    permission: 'container-configurations.edit',
    audit: 'container-configuration',
  },
  'container-configurations.copy': {
    summary: "Take another configuration's settings; secrets come as keys only",
    route: 'POST /api/:teamSlug/container-configurations/:configId/copy',
    body: z.object({
      fromConfigId: Id,
      /** Absent: all settings of the other configuration. */
      fields: z.array(z.enum(containerConfigFieldNames)).max(100).optional(),
      revision: z.int().optional(),
    }),
    errors: ['patchConflict', 'keysAreUnique'],
    permission: 'container-configurations.edit',
    audit: 'container-configuration',
  },
})

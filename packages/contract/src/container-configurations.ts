import { z } from 'zod'
import { ContainerConfigFields, containerConfigFieldNames } from './container-configuration.ts'
import { endpoints } from './endpoint.ts'
import { containerConfigTypes, nodeTypes, projectTypes, versionTypes } from './enums.ts'
import { basic, Id, params, Timestamp } from './shapes.ts'

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
 * A change of a configuration (backend.md 3.5, decision 20): whole fields are replaced, null clears one, `resetSection` clears one
 * at once. With `revision`, the patch is judged against what that revision showed; `keys` then narrows a list field to single rows
 * by key, so that two people who edit different rows do not overwrite each other.
 */
export const ContainerConfigPatch = z.object({
  config: ContainerConfigFields.partial().optional(),
  resetSection: z.enum(containerConfigFieldNames as [string, ...string[]]).optional(),
  revision: z.int().optional(),
  keys: z.record(z.string(), z.array(z.string().max(1_024)).max(100)).optional(),
})
export type ContainerConfigPatch = z.output<typeof ContainerConfigPatch>

const Named = z.object({ id: Id, name: z.string() })
export const ContainerConfigRelations = z.object({
  project: basic(projectTypes).optional(),
  version: basic(versionTypes).optional(),
  image: z
    .object({ id: Id, name: z.string(), tag: z.string().nullish(), config: ContainerConfig, registry: Named })
    .optional(),
  deployment: z
    .object({
      id: Id,
      prefix: z.string(),
      status: z.string(),
      mutable: z.boolean(),
      node: basic(nodeTypes),
      publicKey: z.string().nullish(),
      instances: z.array(z.object({ id: Id, configId: Id, imageName: z.string(), containerName: z.string() })),
    })
    .optional(),
  configBundle: Named.optional(),
})
const configId = params({ configId: Id })

export const containerConfigurationEndpoints = endpoints({
  'container-configurations.get': {
    summary: 'One layer of a container configuration',
    method: 'GET',
    path: '/api/:teamSlug/container-configurations/:configId',
    params: configId,
    status: 200,
    response: ContainerConfigDetails,
    errors: [],
    permission: 'container-configurations.read',
    audit: false,
  },
  'container-configurations.relations': {
    summary: 'What a configuration belongs to',
    method: 'GET',
    path: '/api/:teamSlug/container-configurations/:configId/relations',
    params: configId,
    status: 200,
    response: ContainerConfigRelations,
    errors: [],
    permission: 'container-configurations.read',
    audit: false,
  },
  'container-configurations.update': {
    summary: 'Change a configuration',
    method: 'PATCH',
    path: '/api/:teamSlug/container-configurations/:configId',
    params: configId,
    body: ContainerConfigPatch,
    status: 204,
    errors: ['patchConflict', 'keysAreUnique'],
    permission: 'container-configurations.edit',
    audit: 'container-configuration',
    auditBody: false,
  },
})

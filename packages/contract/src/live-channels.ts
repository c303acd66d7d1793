import { z } from 'zod'
import { ContainerConfig, ContainerConfigPatch } from './container-configurations.ts'
import { DeploymentEvent } from './deployment-events.ts'
import { containerOperations, nodeStatuses, pipelineStatuses } from './enums.ts'
import { limits } from './limits.ts'
import { channels } from './live.ts'
import { Container, ContainerIdentifier } from './nodes.ts'
import { Image, ImageOrder, ImagesAdd, ImageTag, TagName } from './projects.ts'
import { BasicUser, ContainerName, Id, Timestamp } from './shapes.ts'

/** Presence on a page that several users may edit. One editor is one socket. */
export const Editor = z.object({
  id: z.string(),
  name: z.string(),
  color: z.string(),
  focusedItemId: z.string().nullish(),
  focusedInputId: z.string().nullish(),
})
export type Editor = z.output<typeof Editor>
const focus = z.object({ itemId: z.string().max(255), inputId: z.string().max(255) })
const Nothing = z.object({}).loose().nullish()
const take = z.int().min(1).max(limits.logTake.batched)

const editorClient = {
  'focus-input': { data: focus, permission: 'projects.read', audit: false },
  'blur-input': { data: focus, permission: 'projects.read', audit: false },
} as const
const editorServer = {
  'editor-init': { data: z.object({ meId: z.string(), editors: z.array(Editor) }) },
  'editor-joined': { data: Editor },
  'editor-left': { data: Editor.pick({ id: true, focusedItemId: true, focusedInputId: true }) },
  'input-focused': { data: focus.extend({ userId: z.string() }) },
  'input-blured': { data: focus.extend({ userId: z.string() }) },
} as const

export const NodeEventMessage = z.object({
  id: Id,
  status: z.enum(nodeStatuses),
  address: z.string().nullish(),
  version: z.string().nullish(),
  connectedAt: Timestamp.nullish(),
  error: z.string().nullish(),
  engineVersion: z.string().nullish(),
  operatingSystem: z.string().nullish(),
  updatable: z.boolean().nullish(),
})
export const ContainersStateList = z.object({ prefix: z.string().nullish(), containers: z.array(Container) })
const RegistryImage = z.object({ id: z.string(), name: z.string(), tags: z.int() })
const Tag = z.object({
  name: z.string(),
  created: Timestamp.nullish(),
  digest: z.string().nullish(),
  /** Bytes of the compressed layers. */
  size: z.number().nullish(),
  /** Such as `linux/amd64`. */
  platforms: z.array(z.string()).nullish(),
})

export const liveChannels = channels({
  nodes: {
    path: '/:teamSlug/nodes',
    permission: 'nodes.read',
    client: { 'update-agent': { data: z.object({ id: Id }), permission: 'nodes.edit', audit: 'node' } },
    server: { event: { data: NodeEventMessage } },
  },
  node: {
    path: '/:teamSlug/nodes/:nodeId',
    permission: 'containers.read',
    client: {
      'container-command': {
        data: z.object({ container: ContainerIdentifier, operation: z.enum(containerOperations) }),
        permission: 'containers.operate',
        audit: 'container',
      },
      'delete-container': {
        data: z.object({ container: ContainerIdentifier }),
        permission: 'containers.delete',
        audit: 'container',
      },
      'watch-containers-state': {
        data: z.object({ prefix: z.string().max(limits.containerName.max).nullish(), deploymentId: Id.nullish() }),
        permission: 'containers.read',
        audit: false,
      },
      'watch-container-log': {
        data: z.object({
          container: ContainerIdentifier,
          take: take.optional(),
          batch: z.boolean().optional(),
          /** Only the lines of this pod of a workload. */
          pod: ContainerName.optional(),
        }),
        permission: 'containers.read',
        audit: false,
      },
      'set-container-log-take': {
        data: z.object({ container: ContainerIdentifier, take }),
        permission: 'containers.read',
        audit: false,
      },
      'unwatch-container-log': {
        data: z.object({ container: ContainerIdentifier }),
        permission: 'containers.read',
        audit: false,
      },
    },
    server: {
      'containers-state-list': { data: ContainersStateList },
      'container-log-started': { data: z.object({ container: ContainerIdentifier, take }) },
      'container-log': { data: z.object({ log: z.string(), container: ContainerIdentifier.optional() }) },
      // Lines that a slow subscriber misses are counted: docs/decisions.md#skipped-log-lines.
      /** For subscribers with `batch: true`: [milliseconds since the epoch, 0 = stdout or 1 = stderr, text] per line. */
      'container-log-batch': {
        data: z.object({
          container: ContainerIdentifier,
          lines: z.array(z.tuple([z.number(), z.number(), z.string()])),
          skipped: z.int().optional(),
        }),
      },
    },
  },
  registries: {
    path: '/:teamSlug/registries',
    permission: 'registries.read',
    client: {
      'find-image': {
        data: z.object({
          registryId: Id,
          filter: z.string().max(255),
          /** A page of the images that match; the first 100 by default. */
          skip: z.int().min(0).max(1_000_000).optional(),
          take: z.int().min(1).max(1_000).optional(),
        }),
        permission: 'registries.read',
        audit: false,
      },
      'fetch-image-tags': {
        data: z.object({ registryId: Id, images: z.array(z.string().min(1).max(255)).min(1).max(20) }),
        permission: 'registries.read',
        audit: false,
      },
      /** Asks for what the list of tags lacks, for the tags that a page shows. */
      'fetch-tag-details': {
        data: z.object({
          registryId: Id,
          image: z.string().min(1).max(255),
          tags: z.array(TagName).min(1).max(limits.tagDetailsPerRequest),
        }),
        permission: 'registries.read',
        audit: false,
      },
    },
    server: {
      'find-image-result': {
        // The filter of the request, because answers may arrive out of order.
        data: z.object({
          registryId: Id,
          filter: z.string().optional(),
          images: z.array(RegistryImage),
          /** Where the request asked for a page: its start, and the number of all images that match. */
          skip: z.int().optional(),
          total: z.int().optional(),
        }),
      },
      'registry-image-tags': {
        data: z.object({ registryId: Id, images: z.array(z.object({ name: z.string(), tags: z.array(Tag) })) }),
      },
      /** All requested tags in their order, those that nothing is known about with their name alone. */
      'registry-tag-details': {
        data: z.object({ registryId: Id, image: z.string(), tags: z.array(Tag) }),
      },
    },
  },
  pipelines: {
    path: '/:teamSlug/pipelines',
    permission: 'pipelines.read',
    client: {},
    server: {
      'pipeline-status': {
        data: z.object({
          pipelineId: Id,
          runId: Id,
          status: z.enum(pipelineStatuses),
          startedBy: BasicUser.nullish(),
          finishedAt: Timestamp.nullish(),
        }),
      },
    },
  },
  version: {
    path: '/:teamSlug/projects/:projectId/versions/:versionId',
    permission: 'projects.read',
    client: {
      'add-images': { data: z.object({ registryImages: ImagesAdd }), permission: 'projects.edit', audit: 'image' },
      'delete-image': { data: z.object({ imageId: Id }), permission: 'projects.edit', audit: 'image' },
      'set-image-tag': { data: z.object({ imageId: Id, tag: ImageTag }), permission: 'projects.edit', audit: 'image' },
      'order-images': { data: ImageOrder, permission: 'projects.edit', audit: 'image' },
      'get-image': { data: z.object({ id: Id }), permission: 'projects.read', audit: false },
      ...editorClient,
    },
    server: {
      'images-added': { data: z.object({ images: z.array(Image) }) },
      'image-deleted': { data: z.object({ imageId: Id }) },
      'patch-received': { data: z.null() },
      'image-tag-updated': { data: z.object({ imageId: Id, tag: z.string() }) },
      'images-were-reordered': { data: z.array(Id) },
      image: { data: Image },
      ...editorServer,
    },
  },
  deployment: {
    path: '/:teamSlug/deployments/:deploymentId',
    permission: 'deployments.read',
    client: {
      'fetch-deployment-events': { data: Nothing, permission: 'deployments.read', audit: false },
      ...editorClient,
    },
    server: {
      'deployment-event-list': { data: z.array(DeploymentEvent) },
      'instances-added': { data: z.array(z.object({ id: Id, configId: Id, image: Image })) },
      'instance-deleted': { data: z.object({ instanceId: Id, configId: Id }) },
      /** What is known of a followed tag has changed, or whether an instance follows one: read the deployment again. */
      'following-updated': { data: Nothing },
      'deployment-bundles-updated': {
        data: z.object({
          bundles: z.array(
            z.object({
              id: Id,
              name: z.string(),
              description: z.string().nullish(),
              configId: Id,
              config: ContainerConfig.optional(),
            }),
          ),
        }),
      },
      ...editorServer,
    },
  },
  'container-configuration': {
    path: '/:teamSlug/container-configurations/:configId',
    permission: 'container-configurations.read',
    client: {
      'patch-config': {
        data: ContainerConfigPatch.extend({ id: Id.optional() }),
        configInput: true,
        permission: 'container-configurations.edit',
        audit: 'container-configuration',
      },
      'get-config-secrets': { data: Nothing, permission: 'container-configurations.read', audit: false },
      ...editorClient,
    },
    server: {
      'patch-received': { data: z.object({ revision: z.int() }).nullable() },
      'patch-conflict': {
        data: z.object({
          conflicts: z.array(z.object({ property: z.string(), value: z.unknown() })),
          revision: z.int(),
        }),
      },
      'config-updated': { data: ContainerConfig },
      'config-secrets': {
        data: z.object({
          keys: z.array(z.string()),
          publicKey: z.string().nullish(),
          /** Keys with a value of another deployment of the prefix, for deployments that name them without a value. */
          shared: z.array(z.string()).optional(),
        }),
      },
      ...editorServer,
    },
  },
})

/** Frames outside any channel. */
export const LiveError = z.object({
  status: z.int(),
  message: z.string(),
  property: z.string().optional(),
  value: z.unknown().optional(),
  error: z.string().optional(),
  description: z.string().optional(),
  details: z.array(z.object({ property: z.string(), error: z.string(), description: z.string() })).optional(),
  /** Seconds until the request may succeed, where a limit of requests refused it. */
  retryAfterS: z.number().optional(),
  path: z.string().optional(),
  /** The id of the refused message, if its sender set one: `{type, data, id}`. */
  id: z.string().optional(),
})

import { z } from 'zod'
import { ContainerConfigFields } from './container-configuration.ts'
import { ConfigChange, ContainerConfig } from './container-configurations.ts'
import { endpoints } from './endpoint.ts'
import { deploymentStatuses, nodeStatuses, nodeTypes, projectTypes, versionTypes } from './enums.ts'
import { LastRelease } from './last-release.ts'
import { limits, patterns } from './limits.ts'
import { Registry } from './registries.ts'
import { Audit, Description, Id, Name, Timestamp } from './shapes.ts'

/** Any text: `1`, `edge`, `2.0.0`. */
export const VersionName = z.string().trim().min(1).max(limits.name.max)
export const ProjectCreate = z.object({
  name: Name,
  description: Description,
  changelog: Description,
  type: z.enum(projectTypes),
})
export const ProjectUpdate = z.object({ name: Name, description: Description, changelog: Description })
export const VersionCreate = z.object({
  name: VersionName,
  changelog: Description,
  autoCopyDeployments: z.boolean().nullish(),
  type: z.enum(versionTypes),
})
export const VersionUpdate = z.object({
  name: VersionName,
  changelog: Description,
  autoCopyDeployments: z.boolean().nullish(),
})
export const VersionIncrease = z.object({ name: VersionName, changelog: Description })

export const Project = z.object({
  id: Id,
  name: z.string(),
  type: z.enum(projectTypes),
  description: z.string().nullish(),
  audit: Audit,
  versionCount: z.int(),
})
export const Version = z.object({
  id: Id,
  name: z.string(),
  type: z.enum(versionTypes),
  audit: Audit,
  changelog: z.string().nullish(),
  default: z.boolean(),
  increasable: z.boolean(),
  imageCount: z.int().optional(),
  deploymentCount: z.int().optional(),
})
export const ProjectDetails = Project.extend({ deletable: z.boolean(), versions: z.array(Version) })

const imageName = z.string().trim().min(1).max(255)
/** `name[:tag]`; the name may contain a registry host with a port where the registry is unchecked. */
export const ImageReference = z
  .string()
  .trim()
  .min(1)
  .max(512)
  .refine((value) => !value.startsWith('-'), 'A reference does not start with a dash')
export const TagName = z
  .string()
  .trim()
  .regex(patterns.imageTag, 'A tag has letters, digits, dots, dashes and underscores, at most 128')
/** `1.2`, `sha256:...`, or `1.2@sha256:...`: with a digest, exactly that image is deployed, also after the tag was moved. */
export const ImageTag = z
  .string()
  .trim()
  .regex(
    patterns.tagOrDigest,
    'Use a tag of letters, digits, dots, dashes and underscores, a digest (sha256: and 64 hex digits), or tag@digest',
  )
export const ImagesAdd = z
  .array(z.object({ registryId: Id, images: z.array(ImageReference).min(1).max(limits.imagesPerRequest) }))
  .min(1)
  .max(50)
export const ImageUpdate = z.object({ tag: ImageTag.nullish(), ...ConfigChange.shape })
export const ImageOrder = z.array(Id).min(1).max(1_000)
/** An image of an import, in the order in which the images start. `name` is the name in its registry, without a tag. */
export const ImportedImage = z.object({
  registryId: Id,
  name: ImageReference,
  tag: ImageTag.nullish(),
  config: ContainerConfigFields.nullish(),
})
export type ImportedImage = z.output<typeof ImportedImage>
const importedImages = z.array(ImportedImage).min(1).max(limits.importedImages)
export const VersionImport = z.object({
  ...VersionCreate.omit({ autoCopyDeployments: true }).shape,
  images: importedImages,
})
/** A versionless project has no `version`: its rolling version holds the images. */
export const ProjectImport = z
  .object({
    project: ProjectCreate,
    version: VersionCreate.omit({ autoCopyDeployments: true }).nullish(),
    images: importedImages,
  })
  .superRefine(({ project, version }, context) => {
    const refuse = (message: string) => context.addIssue({ code: 'custom', path: ['version'], message })
    if (project.type === 'versioned' && !version) refuse('A versioned project needs a version that holds the images')
    if (project.type === 'versionless' && version)
      refuse('A versionless project has one version of its own: leave this out')
  })
export const Image = z.object({
  id: Id,
  name: imageName,
  tag: z.string().nullish(),
  order: z.int(),
  createdAt: Timestamp,
  registry: Registry,
  labels: z.record(z.string(), z.string()),
  config: ContainerConfig,
})
export type Image = z.output<typeof Image>

export const VersionDeployment = z.object({
  id: Id,
  prefix: z.string(),
  protected: z.boolean(),
  status: z.enum(deploymentStatuses),
  updatedAt: Timestamp,
  note: z.string().nullish(),
  audit: Audit,
  node: z.object({ id: Id, name: z.string(), type: z.enum(nodeTypes), status: z.enum(nodeStatuses) }),
  ...LastRelease.shape,
})
export const VersionDetails = Version.extend({
  mutable: z.boolean(),
  deletable: z.boolean(),
  autoCopyDeployments: z.boolean(),
  images: z.array(Image),
  deployments: z.array(VersionDeployment),
})
/** The containers of the current releases: those that a deletion with `containers=true` deletes. */
export const RunningContainers = z.object({
  node: z.object({ id: Id, name: z.string(), status: z.enum(nodeStatuses) }),
  prefix: z.string(),
  versionName: z.string(),
  /** Full names. */
  containers: z.array(z.string()),
})
const Containers = z.object({ containers: z.enum(['true', 'false']).optional() })
const versions = '/api/:teamSlug/projects/:projectId/versions' as const

export const projectEndpoints = endpoints({
  'projects.list': {
    summary: 'List the projects of a team',
    route: 'GET /api/:teamSlug/projects',
    response: z.array(Project),
    permission: 'projects.read',
  },
  'projects.get': {
    summary: 'Get a project and its versions',
    route: 'GET /api/:teamSlug/projects/:projectId',
    response: ProjectDetails,
    permission: 'projects.read',
  },
  'projects.create': {
    summary: 'Create a project',
    route: 'POST /api/:teamSlug/projects',
    body: ProjectCreate,
    status: 201,
    response: Project,
    errors: ['alreadyExists'],
    permission: 'projects.edit',
    audit: 'project',
  },
  'projects.import': {
    summary: 'Create a project with a version, its images and their configurations',
    route: 'POST /api/:teamSlug/projects/import',
    body: ProjectImport,
    bodyBytesMax: limits.importBody,
    configInput: 'images',
    status: 201,
    location: 'collection',
    response: Project.extend({ versionId: Id }),
    errors: ['alreadyExists', 'containerNameAreUnique', 'keysAreUnique', 'payloadTooLarge'],
    permission: 'projects.edit',
    audit: 'project',
    auditBody: false,
  },
  'projects.update': {
    summary: 'Update a project',
    route: 'PUT /api/:teamSlug/projects/:projectId',
    body: ProjectUpdate,
    errors: ['alreadyExists', 'preconditionFailed'],
    permission: 'projects.edit',
    audit: 'project',
  },
  'projects.delete': {
    summary: 'Delete a project; with `containers=true` also its containers',
    route: 'DELETE /api/:teamSlug/projects/:projectId',
    query: Containers,
    errors: ['preconditionFailed'],
    permission: 'projects.edit',
    audit: 'project',
  },
  'projects.running': {
    summary: 'List the nodes and prefixes where a project has containers',
    route: 'GET /api/:teamSlug/projects/:projectId/running',
    response: z.array(RunningContainers),
    permission: 'projects.read',
  },
  'projects.convert': {
    summary: 'Convert a versionless project into a versioned one',
    route: 'POST /api/:teamSlug/projects/:projectId/convert',
    errors: ['preconditionFailed'],
    permission: 'projects.edit',
    audit: 'project',
  },
  'versions.list': {
    summary: 'List the versions of a project',
    route: `GET ${versions}`,
    query: z.object({ nameContains: z.string().min(1).max(70).optional() }),
    response: z.array(Version),
    permission: 'projects.read',
  },
  'versions.get': {
    summary: 'Get a version with its images and deployments',
    route: `GET ${versions}/:versionId`,
    response: VersionDetails,
    permission: 'projects.read',
  },
  'versions.create': {
    summary: 'Create a version',
    route: `POST ${versions}`,
    body: VersionCreate,
    status: 201,
    response: Version,
    errors: ['alreadyExists', 'preconditionFailed'],
    permission: 'projects.edit',
    audit: 'version',
  },
  'versions.import': {
    summary: 'Create a version with the given images and their configurations',
    route: `POST ${versions}/import`,
    body: VersionImport,
    bodyBytesMax: limits.importBody,
    configInput: 'images',
    status: 201,
    location: 'collection',
    response: Version,
    errors: ['alreadyExists', 'containerNameAreUnique', 'keysAreUnique', 'payloadTooLarge', 'preconditionFailed'],
    permission: 'projects.edit',
    audit: 'version',
    auditBody: false,
  },
  'versions.update': {
    summary: 'Update a version',
    route: `PUT ${versions}/:versionId`,
    body: VersionUpdate,
    errors: ['alreadyExists', 'preconditionFailed'],
    permission: 'projects.edit',
    audit: 'version',
  },
  'versions.delete': {
    summary: 'Delete a version; with `containers=true` also its containers',
    route: `DELETE ${versions}/:versionId`,
    query: Containers,
    errors: ['preconditionFailed'],
    permission: 'projects.edit',
    audit: 'version',
  },
  'versions.running': {
    summary: 'List the nodes and prefixes where a version has containers',
    route: `GET ${versions}/:versionId/running`,
    response: z.array(RunningContainers),
    permission: 'projects.read',
  },
  'versions.default': {
    summary: 'Set a version as the default of its project',
    route: `PUT ${versions}/:versionId/default`,
    permission: 'projects.edit',
    audit: 'version',
  },
  'versions.compose': {
    summary: 'Download a version as a compose file, without values of secrets',
    route: `GET ${versions}/:versionId/compose`,
    contentType: 'text/yaml; charset=utf-8',
    permission: 'projects.read',
  },
  'versions.increase': {
    summary: 'Create the next version of an incremental version',
    route: `POST ${versions}/:versionId/increase`,
    body: VersionIncrease,
    status: 201,
    location: 'sibling',
    response: Version,
    errors: ['alreadyExists', 'preconditionFailed'],
    permission: 'projects.edit',
    audit: 'version',
  },
  'images.list': {
    summary: 'List the images of a version',
    route: `GET ${versions}/:versionId/images`,
    response: z.array(Image),
    permission: 'projects.read',
  },
  'images.get': {
    summary: 'Get an image of a version',
    route: `GET ${versions}/:versionId/images/:imageId`,
    response: Image,
    permission: 'projects.read',
  },
  'images.create': {
    summary: 'Add images to a version',
    route: `POST ${versions}/:versionId/images`,
    body: ImagesAdd,
    status: 201,
    response: z.array(Image),
    errors: ['preconditionFailed'],
    permission: 'projects.edit',
    audit: 'image',
  },
  'images.order': {
    summary: 'Set the order in which images start',
    route: `PUT ${versions}/:versionId/images/order`,
    body: ImageOrder,
    errors: ['alreadyExists', 'preconditionFailed'],
    permission: 'projects.edit',
    audit: 'image',
  },
  'images.update': {
    summary: 'Update the tag or the configuration of an image',
    route: `PATCH ${versions}/:versionId/images/:imageId`,
    body: ImageUpdate,
    configInput: true,
    errors: ['preconditionFailed', 'keysAreUnique'],
    permission: 'projects.edit',
    audit: 'image',
    auditBody: false,
  },
  'images.delete': {
    summary: 'Remove an image from a version',
    route: `DELETE ${versions}/:versionId/images/:imageId`,
    errors: ['preconditionFailed'],
    permission: 'projects.edit',
    audit: 'image',
  },
})

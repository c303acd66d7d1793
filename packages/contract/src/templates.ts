import { z } from 'zod'
import { ContainerConfigFields } from './container-configuration.ts'
import { endpoints } from './endpoint.ts'
import { projectTypes } from './enums.ts'
import { limits } from './limits.ts'
import { ImageReference, ImageTag, Project } from './projects.ts'
import { HubDetailsWrite, UncheckedDetailsWrite } from './registries.ts'
import { Description, Icon, Name, TemplateId } from './shapes.ts'

const registry = { name: Name, description: Description, icon: Icon }
/** A registry without credentials, because a template cannot contain any. */
export const TemplateRegistry = z.discriminatedUnion('type', [
  z.strictObject({
    ...registry,
    type: z.literal('hub'),
    details: z.strictObject({ ...HubDetailsWrite.pick({ imageNamePrefix: true }).shape, public: z.literal(true) }),
  }),
  z.strictObject({
    ...registry,
    type: z.literal('unchecked'),
    details: z.strictObject({ url: UncheckedDetailsWrite.shape.url.unwrap().min(1), public: z.literal(true) }),
  }),
])
export type TemplateRegistry = z.output<typeof TemplateRegistry>

/** `image` is the name in the registry that `registryName` names among those of the template. */
export const TemplateImage = z.strictObject({
  registryName: Name,
  image: ImageReference,
  tag: ImageTag,
  config: ContainerConfigFields,
})
export type TemplateImage = z.output<typeof TemplateImage>

/** A template as its file describes it: a project with images in the order in which they start (docs/templates.md). */
export const TemplateFile = z.strictObject({
  name: Name,
  description: z.string().trim().min(1).max(limits.description.max),
  technologies: z.array(z.string().trim().min(1).max(40)).min(1).max(10),
  registries: z.array(TemplateRegistry).min(1).max(10),
  images: z.array(TemplateImage).min(1).max(50),
})
export type TemplateFile = z.output<typeof TemplateFile>

/** `pictureHash` in the address of the picture (`?v=`) lets browsers keep it. */
export const Template = z.object({ id: TemplateId, ...TemplateFile.shape, pictureHash: z.string() })
export type Template = z.output<typeof Template>

export const TemplateApply = z.object({
  id: TemplateId,
  teamSlug: z.string().min(1).max(limits.teamSlug.max),
  name: Name,
  description: Description,
  type: z.enum(projectTypes),
})

export const templateEndpoints = endpoints({
  'templates.list': {
    summary: 'List the templates',
    route: 'GET /api/templates',
    response: z.array(Template),
    permission: 'session',
  },
  'templates.create': {
    summary: 'Create a project from a template',
    route: 'POST /api/templates',
    body: TemplateApply,
    status: 201,
    response: Project,
    errors: ['alreadyExists', 'preconditionFailed'],
    permission: 'session',
    audit: 'project',
    auditTeam: 'named',
  },
  'templates.image': {
    summary: 'Get the picture of a template',
    route: 'GET /api/templates/:templateId/image',
    query: z.object({ v: z.string().max(64).optional() }),
    contentType: 'image/svg+xml',
    permission: 'session',
  },
})

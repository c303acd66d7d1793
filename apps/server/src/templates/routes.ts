import { findCaller } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import { templatesDirectory } from '../places.ts'
import { createFromTemplate, findTemplate } from './actions.ts'
import { readTemplates } from './read-templates.ts'

type Operations = Extract<keyof Handlers, `templates.${string}`>

/** A picture is an image and nothing else, also when a browser opens it as a page. */
const picturePolicy = "default-src 'none'; style-src 'unsafe-inline'"

export function templateRoutes(app: App): Handlers<Operations> {
  const templates = readTemplates(templatesDirectory, app.log)
  return {
    'templates.list': async () => [...templates.values()].map(({ template }) => template),
    'templates.create': async ({ actor, body, actsIn, audited, reply }) => {
      const caller = await findCaller(app, actor, body.teamSlug)
      actsIn(caller.team)
      const { project, registries } = await createFromTemplate(app, caller, findTemplate(templates, body.id), body)
      audited({ projectId: project.id, registries })
      reply.header('location', `/${caller.team.slug}/projects/${project.id}`)
      return project
    },
    'templates.image': async ({ params, query, reply }) => {
      const { template, picture } = findTemplate(templates, params.templateId)
      reply.header('content-security-policy', picturePolicy)
      // The console asks with the hash of the picture, so that another picture has another address.
      const lasts = query.v === template.pictureHash
      reply.header('cache-control', lasts ? 'private, max-age=31536000, immutable' : 'no-cache')
      return picture
    },
  }
}

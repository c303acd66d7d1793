import { type Body, CruxError, isAllowed, type Project, type ResponseInput, type TemplateRegistry } from '@crux/contract'
import { getTemplateImageName, matchRegistry, toRegistrySource } from '@crux/rules'
import type { Caller } from '../access/index.ts'
import { readNewLayer } from '../container-configurations/index.ts'
import type { App } from '../context.ts'
import { lockByName } from '../db/lock-order.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { createProjectWithImages } from '../imports/index.ts'
import { findProject, toProject } from '../projects/index.ts'
import { insertPublicRegistry, listMatchableRegistries } from '../registries/index.ts'
import { recordEvent } from '../system/index.ts'
import type { LoadedTemplate } from './read-templates.ts'

/** @throws CruxError notFound `id` */
export function findTemplate(templates: ReadonlyMap<string, LoadedTemplate>, id: string): LoadedTemplate {
  const found = templates.get(id)
  if (!found) throw new CruxError('notFound', { property: 'id', value: id })
  return found
}

/** The name of the version that holds the images of a versioned project. */
const firstVersion = { name: '1.0.0', type: 'incremental' } as const

type Registry = Awaited<ReturnType<typeof listMatchableRegistries>>[number]

/**
 * Creates a project with the images of a template, and the registries that the team lacks, in one transaction.
 *
 * @returns the project, and the names of the registries that were created
 * @throws CruxError forbidden, `registries` when only an admin may create what is missing; alreadyExists `name`
 */
export async function createFromTemplate(
  app: App,
  caller: Caller,
  { template }: LoadedTemplate,
  { name, description, type }: Body<'templates.create'>,
): Promise<{ project: ResponseInput<'templates.create'>; registries: string[] }> {
  const { team } = caller
  if (!isAllowed(team.role, 'projects.edit')) throw new CruxError('forbidden')
  const layers = template.images.map(({ config }) => readNewLayer(config))
  const { projectId, versionId, registries } = await inTransaction(app.database, async (queries) => {
    // Two templates that need the same registry create it once.
    await lockByName(queries, `registries of ${team.id}`)
    const known = await listMatchableRegistries(queries, team.id)
    const created = await createMissing(queries, caller, template, known)
    const images = template.images.map(({ tag }, index) => ({
      ...findImageSource(template, index, [...known, ...created]),
      tag,
      labels: {},
      fields: layers[index]?.fields ?? {},
    }))
    const version = type === 'versioned' ? firstVersion : undefined
    const made = await createProjectWithImages(queries, caller, { project: { name, description, type }, version, images })
    return { ...made, registries: created.map((registry) => registry.name) }
  })
  recordEvent(app, { teamId: team.id, projectId, versionId, template: template.id }, 'project created')
  return { project: toProject(await findProject(app, team, projectId)), registries }
}

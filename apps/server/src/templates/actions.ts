import {
  type Body,
  CruxError,
  isAllowed,
  type ResponseInput,
  type Template,
  type TemplateRegistry,
} from '@crux/contract'
import { getTemplateImageName, matchRegistry } from '@crux/rules'
import type { Caller } from '../access/index.ts'
import { readNewLayer } from '../container-configurations/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { createProjectWithImages } from '../imports/index.ts'
import { findProject, toProject } from '../projects/index.ts'
import {
  insertPublicRegistry,
  listMatchableRegistries,
  lockRegistries,
  type MatchableRegistry,
  type PublicRegistry,
} from '../registries/index.ts'
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
    await lockRegistries(queries, team.id)
    const known = await listMatchableRegistries(queries, team.id)
    const created = await createMissing(queries, caller, template, known)
    const images = template.images.map(({ tag }, index) => ({
      ...findImageSource(template, index, [...known, ...created]),
      tag,
      labels: {},
      fields: layers[index]?.fields ?? {},
    }))
    const version = type === 'versioned' ? firstVersion : undefined
    const made = await createProjectWithImages(queries, caller, {
      project: { name, description, type },
      version,
      images,
    })
    return { ...made, registries: created.map((registry) => registry.name) }
  })
  recordEvent(app, { teamId: team.id, projectId, versionId, template: template.id }, 'project created')
  return { project: toProject(await findProject(app, team, projectId)), registries }
}

/** @throws CruxError forbidden `registries`, which says what an admin has to create */
async function createMissing(
  queries: Queries,
  caller: Caller,
  template: Template,
  known: readonly MatchableRegistry[],
): Promise<MatchableRegistry[]> {
  const missing = template.registries.filter(({ name }) =>
    template.images.some(
      ({ registryName }, index) => registryName === name && !matchRegistry(getFullName(template, index), known),
    ),
  )
  if (missing.length > 0 && !isAllowed(caller.team.role, 'registries.edit'))
    throw new CruxError('forbidden', {
      property: 'registries',
      value: missing.map(({ name }) => name),
      description: `Your team has no registry for the images of this template. Ask an admin of the team to add the template, or to create: ${missing.map(describeRegistry).join('; ')}.`,
      details: missing.map((registry) => ({
        property: `registries.${registry.name}`,
        error: 'missing',
        description: describeRegistry(registry),
      })),
    })
  const names = new Set(known.map(({ name }) => name))
  const created: MatchableRegistry[] = []
  for (const registry of missing) {
    const name = getFreeName(registry.name, names)
    names.add(name)
    created.push(await insertPublicRegistry(queries, caller, toWrite(registry, name)))
  }
  return created
}

const describeRegistry = (registry: TemplateRegistry): string =>
  registry.type === 'hub'
    ? `a Docker Hub registry for ${registry.details.imageNamePrefix}`
    : `an unchecked registry for ${registry.details.url}`

/** A registry of the team may have the name of one of the template and another address. */
function getFreeName(wanted: string, taken: ReadonlySet<string>): string {
  for (let number = 2, name = wanted; ; name = `${wanted} ${number++}`) if (!taken.has(name)) return name
}

function toWrite(registry: TemplateRegistry, name: string): PublicRegistry {
  if (registry.type === 'hub') return { ...registry, name, details: { ...registry.details } }
  return { ...registry, name, details: { ...registry.details, local: false } }
}

/** The registry of the team for an image, and the name that the image has there. */
function findImageSource(template: Template, index: number, registries: readonly MatchableRegistry[]) {
  const fullName = getFullName(template, index)
  const found = matchRegistry(fullName, registries)
  if (!found) throw new Error(`no registry for ${fullName} of template ${template.id}`)
  return { registryId: found.registry.id, name: found.imageName }
}

/** Without a name the template would not have been loaded (`findTemplateProblems`). */
function getFullName(template: Template, index: number): string {
  const name = getTemplateImageName(template, index)
  if (name === undefined) throw new Error(`image ${index} of template ${template.id} has no full name`)
  return name
}

import { CruxError, detailsMax, type ErrorDetail, type ImportedImage, isAllowed } from '@crux/contract'
import { defaultContainerName, localPinProblem, parseImageName, parseImageTag } from '@crux/rules'
import type { Caller, TeamContext } from '../access/index.ts'
import { type NewLayer, readNewLayer } from '../container-configurations/index.ts'
import type { App } from '../context.ts'
import { fetchLabels, type NewImage, withLabelRules } from '../images/index.ts'
import { type Browser, selectRegistryKinds } from '../registries/index.ts'

/**
 * Judges the images of an import, all of them before the first problem is reported, and fetches their labels. This is
 * done before the transaction, so that no registry keeps it waiting; an unreachable registry does not prevent an import.
 *
 * @throws CruxError notFound `images[i].registryId`; invalidArgument or keysAreUnique with `details` per property;
 *   containerNameAreUnique `images[i].config.name`; forbidden for values that only an admin may set
 */
export async function prepareImages(
  app: App,
  browser: Browser,
  { team }: Caller,
  images: readonly ImportedImage[],
): Promise<NewImage[]> {
  const names = await readNames(app, team, images)
  const layers = images.map(({ config }) => readNewLayer(config ?? {}))
  refuseProblems(layers)
  refuseRepeatedNames(names, layers)
  refuseDangers(team, layers)
  const labels = await fetchLabels(app, browser, team, names)
  return names.map((image, index) => {
    const found = labels[index] ?? {}
    return { ...image, labels: found, fields: withLabelRules(layers[index]?.fields ?? {}, found) }
  })
}

type NamedImage = Pick<NewImage, 'registryId' | 'name' | 'tag'>

async function readNames(app: App, team: TeamContext, images: readonly ImportedImage[]): Promise<NamedImage[]> {
  const ids = images.map(({ registryId }) => registryId)
  const kinds = await selectRegistryKinds(app.database.pool, team.id, ids)
  const problems: ErrorDetail[] = []
  const named = images.map(({ registryId, name, tag }, index) => {
    const kind = kinds.get(registryId)
    if (!kind) throw new CruxError('notFound', { property: `images[${index}].registryId`, value: registryId })
    const parsed = parseImageName(name, { mayNameRegistry: kind.type === 'unchecked' })
    const problem = !parsed.ok ? parsed.problem : parsed.image.tag === null ? undefined : 'Write the tag as `tag`'
    if (problem) problems.push({ property: `images[${index}].name`, error: 'matches', description: `${problem}.` })
    if (kind.local && parseImageTag(tag).digest)
      problems.push({ property: `images[${index}].tag`, error: 'oneOf', description: `${localPinProblem}.` })
    return { registryId, name: parsed.ok ? parsed.image.name : name, tag: tag ?? null }
  })
  refuse(problems)
  return named
}

function refuseProblems(layers: readonly NewLayer[]): void {
  refuse(
    layers.flatMap(({ problems }, index) =>
      problems.map((problem) => ({ ...problem, property: `images[${index}].config.${problem.property}` })),
    ),
  )
}

/** The names without the prefix of a deployment, those of init containers included: a start would refuse them later. */
function refuseRepeatedNames(images: readonly NamedImage[], layers: readonly NewLayer[]): void {
  const claimed = new Map<string, number>()
  const problems: ErrorDetail[] = []
  for (const [index, { name: imageName }] of images.entries()) {
    const { name, initContainers } = layers[index]?.fields ?? {}
    const own = name || defaultContainerName(imageName)
    const claim = (container: string, property: string) => {
      const other = claimed.get(container)
      if (other !== undefined)
        problems.push({
          property: `images[${index}].config.${property}`,
          error: 'containerNameAreUnique',
          description: `images[${other}] and images[${index}] would both have a container ${container}: name one of them differently.`,
        })
      claimed.set(container, index)
    }
    claim(own, 'name')
    for (const [place, init] of (initContainers ?? []).entries())
      claim(`${own}-${init.name}`, `initContainers[${place}].name`)
  }
  refuse(problems)
}

function refuseDangers(team: TeamContext, layers: readonly NewLayer[]): void {
  if (isAllowed(team.role, 'container-configurations.host-dangerous')) return
  const dangers = layers.flatMap((layer, index) =>
    layer.dangers.map((danger) => ({ ...danger, property: `images[${index}].config.${danger.property}` })),
  )
  const [first] = dangers
  if (!first) return
  throw new CruxError('forbidden', {
    property: first.property,
    value: first.value,
    description: `${first.reason}: only an admin of the team may set it.`,
    details: dangers
      .slice(0, detailsMax)
      .map(({ property, reason }) => ({ property, error: 'hostDangerous', description: reason })),
  })
}

const codes = ['keysAreUnique', 'containerNameAreUnique'] as const

function refuse(problems: readonly ErrorDetail[]): void {
  const [first] = problems
  if (!first) return
  const code = codes.find((known) => known === first.error) ?? 'invalidArgument'
  throw new CruxError(code, {
    property: first.property,
    description: first.description,
    details: problems.slice(0, detailsMax),
  })
}

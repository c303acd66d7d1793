import { CruxError, isAllowed } from '@crux/contract'
import {
  getImageHost,
  localPinProblem,
  matchRegistry,
  parseFullImageName,
  parseImageName,
  parseImageTag,
} from '@crux/rules'
import type { Caller } from '../access/index.ts'
import type { Queries } from '../db/queries.ts'
import { listMatchableRegistries, type MatchableRegistry } from '../registries/index.ts'

export type NamedImage = { fullName: string; host: string; tag: string }
/** Where an image comes from: a registry of the team with the name that it has there, or a host that the team has none for. */
export type ImageSource = { registry: MatchableRegistry | undefined; imageName: string }

/** @throws CruxError invalidArgument `image` */
export function readImage(text: string): NamedImage {
  const parsed = parseFullImageName(text)
  if (!parsed.ok)
    throw new CruxError('invalidArgument', { property: 'image', value: text, description: `${parsed.problem}.` })
  const { name, tag } = parsed.image
  return { fullName: name, host: getImageHost(name), tag: tag ?? 'latest' }
}

/**
 * Finds the registry of the team for an image: the given one, otherwise the one with the longest prefix.
 *
 * @throws CruxError notFound `registryId`, also for one of another team; invalidArgument `image` where the given registry cannot have it
 */
export async function findSource(
  queries: Queries,
  teamId: string,
  { fullName, host, tag }: NamedImage,
  given?: { registryId: string; text: string },
): Promise<ImageSource> {
  const registries = await listMatchableRegistries(queries, teamId)
  const candidates = given ? registries.filter(({ id }) => id === given.registryId) : registries
  const [only] = candidates
  if (given && !only) throw new CruxError('notFound', { property: 'registryId', value: given.registryId })
  const match = matchRegistry(fullName, candidates)
  if (match) return match
  if (!given || !only) return { registry: undefined, imageName: fullName.slice(host.length + 1) }
  // The images of the engine's own store have no registry in their name.
  if (only.type === 'unchecked' && only.url === '') {
    const local = parseImageName(given.text, { mayNameRegistry: true })
    if (parseImageTag(tag).digest)
      throw new CruxError('invalidArgument', {
        property: 'image',
        value: given.text,
        description: `${localPinProblem}.`,
      })
    if (local.ok) return { registry: only, imageName: local.image.name }
  }
  throw new CruxError('invalidArgument', {
    property: 'image',
    value: given.text,
    description: `The images of ${only.name} begin with ${only.imageUrlPrefix}. Choose another registry, or another image.`,
  })
}

/** @throws CruxError preconditionFailed `registry` for an image of a host that the team has no registry for */
export function missingRegistry({ team }: Caller, host: string): CruxError {
  const next = isAllowed(team.role, 'registries.edit')
    ? 'Create one, or let the request create an unchecked one.'
    : 'Ask an admin of the team to create one.'
  return new CruxError('preconditionFailed', {
    property: 'registry',
    value: host,
    description: `The team has no registry for ${host}. ${next}`,
  })
}

import { CruxError } from '@crux/contract'
import type { TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import { getClient } from './clients.ts'

/** The name below the prefix of a registry, as images of versions have it; undefined for a repository outside of it. */
export function nameBelowPrefix(prefix: string | null, repository: string): string | undefined {
  const head = (prefix ?? '').replace(/^\/+|\/+$/g, '')
  if (head === '') return repository
  return repository.startsWith(`${head}/`) ? repository.slice(head.length + 1) : undefined
}

/**
 * The labels of an image of a team's registry, requested with the stored credential.
 *
 * @param repository the name as in the registry, with its prefix
 * @param reference a tag or a digest
 * @throws CruxError as `readDigest`; notFound `imageName` for an image that is not there
 */
export async function readRepositoryLabels(
  app: App,
  team: Pick<TeamContext, 'id'>,
  image: { registryId: string; repository: string; reference: string },
): Promise<Record<string, string>> {
  const { api, prefix } = await getClient(app, team, image.registryId)
  const name = nameBelowPrefix(prefix, image.repository)
  if (name === undefined) throw new CruxError('notFound', { property: 'imageName', value: image.repository })
  const labels = await api.labels(name, image.reference)
  // An image that does not exist has no labels either.
  if (Object.keys(labels).length === 0 && (await api.digest(name, image.reference)) === undefined)
    throw new CruxError('notFound', {
      property: 'imageName',
      value: image.repository,
      description: 'The registry has no such image.',
    })
  return labels
}

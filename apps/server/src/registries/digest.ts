import type { TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import { findRegistry, getAccess } from './actions.ts'
import { openListedRegistry } from './connection.ts'

/**
 * The digest that a tag of a team's registry has now, asked with the stored credential.
 *
 * @param image the name below the prefix of the registry, as an image of a version has it
 * @returns undefined when the tag does not exist
 * @throws CruxError notFound `registryId`; invalidArgument `registryId` for an unchecked registry; registryUnauthorized;
 *   registryRateLimit with `retryAfterS` where the registry says how long to wait; invalidArgument `url` when it cannot be reached
 */
export async function readDigest(
  app: App,
  team: Pick<TeamContext, 'id'>,
  registryId: string,
  image: string,
  tag: string,
): Promise<string | undefined> {
  const row = await findRegistry(app, team, registryId)
  return openListedRegistry(app, row, await getAccess(app, team, row)).digest(image, tag)
}

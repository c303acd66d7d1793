import type { App } from '../context.ts'
import type { Queries } from '../db/transaction.ts'
import { openRegistryToken } from '../registries/index.ts'
import type { ReleaseInstanceRow } from './store.ts'

export type RegistryCredentials = { user: string; token: string }

/**
 * The decrypted credentials of the registries that instances are pulled from, by the registry's id. Only registries of
 * the team are read.
 *
 * @throws CruxError preconditionFailed `registryId` when the key that encrypted them is missing
 */
export async function registryCredentials(
  app: Pick<App, 'cipher'>,
  queries: Queries,
  teamId: string,
  instances: readonly ReleaseInstanceRow[],
): Promise<Map<string, RegistryCredentials>> {
  const ids = instances.flatMap(({ registryId, localOnly }) => (registryId && !localOnly ? [registryId] : []))
  if (ids.length === 0) return new Map()
  const { rows } = await queries.query<{ id: string; name: string; user: string; token: string }>({
    name: 'registry credentials of a release',
    text: `select id, name, "user", token from crux.registry
      where id = any($1::uuid[]) and team_id = $2 and not public and "user" is not null and token is not null`,
    values: [ids, teamId],
  })
  return new Map(rows.map((row) => [row.id, { user: row.user, token: openRegistryToken(app, row) }]))
}

import type { App } from '../context.ts'
import { type Queries, sql } from '../db/queries.ts'
import { openRegistryToken, type toPullCredentials } from '../registries/index.ts'
import type { ReleaseInstanceRow } from './store.ts'

type StoredCredentials = Parameters<typeof toPullCredentials>[1] & { name: string }

/**
 * The decrypted credentials of the registries that instances are pulled from, by the registry's id. Only registries of
 * the team are read. They become what an agent may have by `toPullCredentials`.
 *
 * @throws CruxError preconditionFailed `registryId` when the key that encrypted them is missing
 */
export async function registryCredentials(
  app: Pick<App, 'cipher'>,
  queries: Queries,
  teamId: string,
  instances: readonly ReleaseInstanceRow[],
): Promise<Map<string, StoredCredentials>> {
  const ids = instances.flatMap(({ registryId, localOnly }) => (registryId && !localOnly ? [registryId] : []))
  if (ids.length === 0) return new Map()
  const rows = await sql`select id, name, type, "user", token from crux.registry
    where id = any(${ids}::uuid[]) and team_id = ${teamId} and not public
      and "user" is not null and token is not null`.rows<StoredCredentials & { id: string }>(
    queries,
    'registry credentials of a release',
  )
  return new Map(rows.map((row) => [row.id, { ...row, token: openRegistryToken(app, row) }]))
}

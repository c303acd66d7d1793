import type { App } from '../context.ts'
import { sql } from '../db/queries.ts'
import { openRegistryToken } from '../registries/index.ts'

export type RegistryCredentials = { user: string; token: string }

/**
 * The decrypted credentials of the registries that a release pulls from. Only registries of the release's own team are
 * read.
 *
 * @throws CruxError preconditionFailed `registryId` when the key that encrypted them is missing
 */
export async function registryCredentials(
  app: Pick<App, 'database' | 'cipher'>,
  release: { id: string; teamId: string },
): Promise<Map<string, RegistryCredentials>> {
  const rows = await sql`select id, name, "user", token from crux.registry
    where id in (select registry_id from crux.release_instance where release_id = ${release.id} and not local_only)
      and team_id = ${release.teamId} and not public
    and "user" is not null and token is not null`.rows<{ id: string; name: string; user: string; token: string }>(
    app.database.pool,
    'registry credentials of a release',
  )
  return new Map(rows.map((row) => [row.id, { user: row.user, token: openRegistryToken(app, row) }]))
}

import type { App } from '../context.ts'
import { openRegistryToken } from '../registries/credential.ts'

export type RegistryCredentials = { user: string; token: string }

/**
 * Credentials of the registries that a release pulls from, opened. Only those of the release's own team are looked at.
 *
 * @throws CruxError preconditionFailed `registryId` when the key that sealed them is gone
 */
export async function registryCredentials(
  app: Pick<App, 'database' | 'cipher'>,
  teamId: string,
  instances: readonly { registryId: string | null; localOnly: boolean }[],
): Promise<Map<string, RegistryCredentials>> {
  const ids = [...new Set(instances.flatMap((row) => (row.registryId && !row.localOnly ? [row.registryId] : [])))]
  if (ids.length === 0) return new Map()
  const { rows } = await app.database.pool.query<{ id: string; name: string; user: string; token: string }>({
    name: 'registry credentials',
    text: `select id, name, "user", token from crux.registry
      where id = any($1::uuid[]) and team_id = $2 and not public and "user" is not null and token is not null`,
    values: [ids, teamId],
  })
  return new Map(rows.map((row) => [row.id, { user: row.user, token: openRegistryToken(app, row) }]))
}

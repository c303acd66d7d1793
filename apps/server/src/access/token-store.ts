import type { TokenScope } from '@crux/contract'
import type { Queries } from '../db/transaction.ts'

export type FoundToken = {
  id: string
  createdAt: Date
  name: string
  scope: TokenScope
  aal: 'aal1' | 'aal2'
  createdBy: string
  expiresAt: Date | null
  userId: string | null
  teamId: string | null
  deploymentId: string | null
  registryId: string | null
  serviceAccountId: string | null
  serviceAccountName: string | null
}

/** The index lookup of the hash is the comparison, so that timing reveals nothing of a token. */
export async function findToken(queries: Queries, hash: string): Promise<FoundToken | undefined> {
  const { rows } = await queries.query<FoundToken>({
    name: 'token by hash',
    text: `select k.id, k.created_at, k.name, k.scope, k.aal, k.created_by, k.expires_at, k.user_id,
        k.team_id, k.deployment_id, k.registry_id, a.id as service_account_id, a.name as service_account_name
      from crux.access_token k left join crux.service_account a on a.id = k.service_account_id and a.deleted_at is null
      where k.hash = $1`,
    values: [hash],
  })
  return rows[0]
}

/** Precise to the minute: of several servers only one writes it. */
export async function touchToken(queries: Queries, id: string): Promise<void> {
  await queries.query({
    name: 'touch token',
    text: `update crux.access_token set last_used_at = now()
      where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
    values: [id],
  })
}

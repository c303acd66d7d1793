import type { Body } from '@crux/contract'
import { type Queries, sql } from '../db/queries.ts'
import type { TokenRow } from '../tokens/index.ts'

type TokenJson = { [K in keyof TokenRow]: TokenRow[K] extends Date ? string : string | null } & Pick<
  TokenRow,
  'id' | 'name' | 'scope'
>
export type AccountRow = {
  id: string
  name: string
  description: string | null
  role: 'admin' | 'user'
  createdAt: Date
  createdBy: string
  tokens: TokenJson[]
}

export const selectAccounts = (queries: Queries, teamId: string) =>
  sql`select a.id, a.name, a.description, a.role, a.created_at, a.created_by,
      coalesce((select json_agg(json_build_object('id', k.id, 'name', k.name, 'scope', k.scope, 'createdAt',
        k.created_at,
          'expiresAt', k.expires_at, 'lastUsedAt', k.last_used_at))
        from crux.access_token k where k.service_account_id = a.id), '[]') as tokens
    from crux.service_account a
    where a.team_id = ${teamId} and a.deleted_at is null
    order by a.name`.rows<AccountRow>(queries, 'service accounts')

type Written = Body<'service-accounts.create'>

export const insertAccount = (queries: Queries, teamId: string, body: Written, by: string) =>
  sql`insert into crux.service_account (team_id, name, description, role, created_by, updated_by)
    values (${teamId}, ${body.name}, ${body.description || null}, ${body.role}, ${by}, ${by})
    returning id, name, description, role, created_at, created_by, '[]'::json as tokens`.one<AccountRow>(queries)

type Key = { id: string; teamId: string }

export const updateAccount = async (queries: Queries, key: Key, body: Written, by: string): Promise<boolean> =>
  (await sql`update crux.service_account set name = ${body.name}, description = ${body.description || null},
      role = ${body.role}, updated_at = now(), updated_by = ${by}
    where id = ${key.id} and team_id = ${key.teamId} and deleted_at is null`.execute(queries)) === 1

/** The row is kept, because the account's actions refer to its name. */
export const retireAccount = async (queries: Queries, key: Key, by: string): Promise<boolean> =>
  (await sql`update crux.service_account set deleted_at = now(), updated_at = now(), updated_by = ${by}
    where id = ${key.id} and team_id = ${key.teamId} and deleted_at is null`.execute(queries)) === 1

/** Locked until the transaction ends, so that no token is created for an account that is being deleted. */
export const lockAccount = async (queries: Queries, key: Key): Promise<boolean> =>
  (await sql`select from crux.service_account
    where id = ${key.id} and team_id = ${key.teamId} and deleted_at is null for update`.execute(queries)) === 1

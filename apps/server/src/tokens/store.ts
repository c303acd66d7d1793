import type { TokenScope } from '@crux/contract'
import { type Queries, raw, sql } from '../db/queries.ts'

/** The holder of a token: exactly one of these kinds. */
export type Holder =
  | { kind: 'user'; id: string }
  | { kind: 'service-account' | 'deployment' | 'registry'; id: string; teamId: string }

export type TokenRow = {
  id: string
  name: string
  scope: TokenScope
  createdAt: Date
  /** The id of the creator. */
  createdBy: string
  expiresAt: Date | null
  lastUsedAt: Date | null
}
export type NewToken = {
  holder: Holder
  name: string
  hash: string
  scope: TokenScope
  aal: 'aal1' | 'aal2'
  createdBy: string
  expiresAt: Date | null
}

/** The hash is never selected, so that no response can show it. */
const columns = sql`id, name, scope, created_at, created_by, expires_at, last_used_at`

const holderColumn = {
  user: 'user_id',
  'service-account': 'service_account_id',
  deployment: 'deployment_id',
  registry: 'registry_id',
} as const
export async function selectTokens(queries: Queries, holder: Holder): Promise<TokenRow[]> {
  const rows = await sql`select ${columns} from crux.access_token
    where ${raw(holderColumn[holder.kind])} = ${holder.id} and hash is not null`.rows<TokenRow>(
    queries,
    `tokens of a ${holder.kind}`,
  )
  return oldestFirst(rows)
}

/** There are a hundred at most, and ids of version 7 grow with time: sorted here, they need no index for it. */
export const oldestFirst = <T extends { id: string }>(tokens: readonly T[]): T[] =>
  tokens.toSorted((a, b) => (a.id < b.id ? -1 : 1))

export async function insertToken(queries: Queries, token: NewToken): Promise<TokenRow> {
  const { holder } = token
  return sql`insert into crux.access_token (${raw(holderColumn[holder.kind])}, team_id, name, hash, scope, aal,
      created_by, expires_at)
      values (${holder.id}, ${'teamId' in holder ? holder.teamId : null}, ${token.name}, ${token.hash},
      ${token.scope}, ${token.aal}, ${token.createdBy}, ${token.expiresAt})
      returning ${columns}`.one<TokenRow>(queries)
}

/** @returns those that were revoked; with `tokenId` only that one, if it is the holder's; with `before` only older ones */
export const deleteTokens = (
  queries: Queries,
  holder: Holder,
  { tokenId, before }: { tokenId?: string; before?: Date } = {},
) =>
  sql`delete from crux.access_token where ${raw(holderColumn[holder.kind])} = ${holder.id}
    and (${tokenId ?? null}::uuid is null or id = ${tokenId ?? null})
    and (${before ?? null}::timestamptz is null
    or created_at <= ${before ?? null}) returning id, name`.rows<{ id: string; name: string }>(queries)

export const deploymentTokenMaker = (queries: Queries, deploymentId: string) =>
  sql`select created_by as by from crux.access_token
    where deployment_id = ${deploymentId} and hash is not null`.value(queries)

/** The row is kept, because the actions of the token refer to its name. */
export const invalidateDeploymentToken = (queries: Queries, deploymentId: string) =>
  sql`update crux.access_token set hash = null where deployment_id = ${deploymentId} and hash is not null
    returning id`.rows<{ id: string }>(queries)

/** The names of service accounts and of deployments' tokens, also deleted ones. */
export const selectAccountNames = (queries: Queries, ids: readonly string[]) =>
  sql`select id, name from crux.service_account where id = any(${ids}::uuid[])
    union all select id, name from crux.access_token
      where id = any(${ids}::uuid[])
        and deployment_id is not null`.rows<{ id: string; name: string }>(queries, 'names of accounts')

import type { TokenScope } from '@crux/contract'
import type { Queries } from '../db/transaction.ts'

/** The holder of a token: exactly one of these kinds. */
export type Holder =
  | { kind: 'user'; userId: string }
  | { kind: 'service-account'; serviceAccountId: string; teamId: string }
  | { kind: 'deployment'; deploymentId: string; teamId: string }
  | { kind: 'registry'; registryId: string; teamId: string }

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
const columns = `id, name, scope, created_at, created_by, expires_at, last_used_at`

const holderColumn = {
  user: 'user_id',
  'service-account': 'service_account_id',
  deployment: 'deployment_id',
  registry: 'registry_id',
} as const
function holderId(holder: Holder): string {
  switch (holder.kind) {
    case 'user':
      return holder.userId
    case 'service-account':
      return holder.serviceAccountId
    case 'deployment':
      return holder.deploymentId
    case 'registry':
      return holder.registryId
  }
}

export async function selectTokens(queries: Queries, holder: Holder): Promise<TokenRow[]> {
  const { rows } = await queries.query<TokenRow>({
    name: `tokens of a ${holder.kind}`,
    text: `select ${columns} from crux.access_token where ${holderColumn[holder.kind]} = $1 and hash is not null`,
    values: [holderId(holder)],
  })
  return oldestFirst(rows)
}

/** There are a hundred at most, and ids of version 7 grow with time: sorted here, they need no index for it. */
export const oldestFirst = <T extends { id: string }>(tokens: readonly T[]): T[] =>
  tokens.toSorted((a, b) => (a.id < b.id ? -1 : 1))

export async function insertToken(queries: Queries, token: NewToken): Promise<TokenRow> {
  const { holder } = token
  const { rows } = await queries.query<TokenRow>(
    `insert into crux.access_token (${holderColumn[holder.kind]}, team_id, name, hash, scope, aal, created_by, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${columns}`,
    [
      holderId(holder),
      'teamId' in holder ? holder.teamId : null,
      token.name,
      token.hash,
      token.scope,
      token.aal,
      token.createdBy,
      token.expiresAt,
    ],
  )
  const [row] = rows
  if (!row) throw new Error('the insert of a token returned no row')
  return row
}

/** @returns those that were revoked; with `tokenId` only that one, if it is the holder's; with `before` only older ones */
export async function deleteTokens(
  queries: Queries,
  holder: Holder,
  { tokenId, before }: { tokenId?: string; before?: Date } = {},
): Promise<{ id: string; name: string }[]> {
  const { rows } = await queries.query<{ id: string; name: string }>(
    `delete from crux.access_token where ${holderColumn[holder.kind]} = $1 and ($2::uuid is null or id = $2)
      and ($3::timestamptz is null or created_at <= $3) returning id, name`,
    [holderId(holder), tokenId ?? null, before ?? null],
  )
  return rows
}

export async function deploymentTokenMaker(queries: Queries, deploymentId: string): Promise<string | undefined> {
  const { rows } = await queries.query<{ by: string }>(
    'select created_by as by from crux.access_token where deployment_id = $1 and hash is not null',
    [deploymentId],
  )
  return rows[0]?.by
}

/** The row is kept, because the actions of the token refer to its name. */
export async function invalidateDeploymentToken(queries: Queries, deploymentId: string): Promise<string[]> {
  const { rows } = await queries.query<{ id: string }>(
    'update crux.access_token set hash = null where deployment_id = $1 and hash is not null returning id',
    [deploymentId],
  )
  return rows.map((row) => row.id)
}

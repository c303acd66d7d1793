import { type Body, CruxError, type ResponseInput } from '@crux/contract'
import type { Caller, TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import type { SessionActor } from '../identity/index.ts'
import { deleteTokens, type Holder, issueToken, oldestFirst, tokenNotFound, tokensRevoked } from '../tokens/index.ts'
import { type AccountRow, insertAccount, lockAccount, retireAccount, selectAccounts, updateAccount } from './store.ts'

export async function listAccounts(app: App, { team }: Caller): Promise<ResponseInput<'service-accounts.list'>> {
  const rows = await selectAccounts(app.database.pool, team.id)
  const people = await app.identity.people(rows.map((row) => row.createdBy))
  return rows.map((row) => toAccount(row, people.get(row.createdBy)?.name))
}

export async function createAccount(
  app: App,
  { team, actor }: Caller<SessionActor>,
  body: Body<'service-accounts.create'>,
): Promise<ResponseInput<'service-accounts.create'>> {
  const row = await insertAccount(app.database.pool, team.id, body, actor.id)
  return toAccount(row, actor.name)
}

export async function changeAccount(
  app: App,
  { team, actor }: Caller<SessionActor>,
  id: string,
  body: Body<'service-accounts.update'>,
): Promise<void> {
  if (!(await updateAccount(app.database.pool, { id, teamId: team.id }, body, actor.id))) throw accountNotFound(id)
  getCreated(app, team, id)
}

/** Its tokens are invalid at once. */
export async function deleteAccount(app: App, { team, actor }: Caller<SessionActor>, id: string): Promise<void> {
  const revoked = await inTransaction(app.database, async (queries) => {
    if (!(await retireAccount(queries, { id, teamId: team.id }, actor.id))) throw accountNotFound(id)
    return deleteTokens(queries, getHolder(team, id))
  })
  tokensRevoked(app, revoked)
  getCreated(app, team, id)
}

export async function createAccountToken(
  app: App,
  { team, actor }: Caller<SessionActor>,
  id: string,
  body: Body<'service-accounts.create-token'>,
): Promise<ResponseInput<'service-accounts.create-token'>> {
  return inTransaction(app.database, async (queries) => {
    if (!(await lockAccount(queries, { id, teamId: team.id }))) throw accountNotFound(id)
    return issueToken(queries, getHolder(team, id), actor, body)
  })
}

export async function deleteAccountToken(
  app: App,
  { team }: Caller,
  params: { serviceAccountId: string; tokenId: string },
): Promise<void> {
  const { serviceAccountId: id, tokenId } = params
  const revoked = await inTransaction(app.database, async (queries) => {
    if (!(await lockAccount(queries, { id, teamId: team.id }))) throw accountNotFound(id)
    return deleteTokens(queries, getHolder(team, id), { tokenId })
  })
  if (revoked.length === 0) throw tokenNotFound(tokenId)
  tokensRevoked(app, revoked)
}

const getHolder = (team: TeamContext, id: string): Holder => ({
  kind: 'service-account',
  id,
  teamId: team.id,
})

/** Rights in a team are cached under the actor's id, whatever kind of actor it is. */
const getCreated = (app: App, team: TeamContext, id: string) =>
  app.bus.publish({ type: 'member.changed', teamId: team.id, userId: id })

const toAccount = (row: AccountRow, createdBy: string | undefined): ResponseInput<'service-accounts.create'> => ({
  ...row,
  createdBy: createdBy ?? 'Unknown user',
  tokens: oldestFirst(row.tokens).map((token) => ({
    ...token,
    createdAt: new Date(token.createdAt),
    expiresAt: token.expiresAt && new Date(token.expiresAt),
    lastUsedAt: token.lastUsedAt && new Date(token.lastUsedAt),
  })),
})

const accountNotFound = (id: string) => new CruxError('notFound', { property: 'serviceAccountId', value: id })

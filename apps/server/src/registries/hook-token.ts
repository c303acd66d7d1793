import { type Body, CruxError, type ResponseInput } from '@crux/contract'
import type { Caller, TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import type { SessionActor } from '../identity/index.ts'
import { deleteTokens, type Holder, issueToken, selectTokens, tokensRevoked } from '../tokens/index.ts'
import { lockRegistryRow } from './store.ts'

/**
 * Creates the one token with which a registry reports pushes.
 *
 * @throws CruxError notFound `registryId`, alreadyExists `registryId`
 */
export async function createRegistryToken(
  app: App,
  { team, actor }: Caller<SessionActor>,
  registryId: string,
  body: Body<'registries.create-token'>,
): Promise<ResponseInput<'registries.create-token'>> {
  const holder = getHolder(team, registryId)
  const made = await inTransaction(app.database, async (queries) => {
    await lockRegistry(queries, team, registryId)
    if ((await selectTokens(queries, holder)).length > 0)
      throw new CruxError('alreadyExists', {
        property: 'registryId',
        value: registryId,
        description: 'This registry already has a token: revoke it first.',
      })
    const expirationInDays = body.expirationInDays ?? 0
    return issueToken(queries, holder, actor, { name: 'Registry hook', expirationInDays, scope: 'read' })
  })
  const { id, createdAt, expiresAt, token } = made
  const url = `${app.config.url}/api/${team.slug}/registries/${registryId}/hooks/v2`
  return { id, createdAt, createdBy: actor.name, expiresAt, token, config: notifications(url, token) }
}

export async function deleteRegistryToken(app: App, { team }: Caller, registryId: string): Promise<void> {
  const revoked = await inTransaction(app.database, async (queries) => {
    await lockRegistry(queries, team, registryId)
    return deleteTokens(queries, getHolder(team, registryId))
  })
  if (revoked.length === 0) throw new CruxError('notFound', { property: 'token' })
  tokensRevoked(app, revoked)
}

export async function findRegistryToken(app: App, team: TeamContext, registryId: string) {
  const [token] = await selectTokens(app.database.pool, getHolder(team, registryId))
  if (!token) return null
  const people = await app.identity.people([token.createdBy])
  return { ...token, createdBy: people.get(token.createdBy)?.name ?? 'Unknown user' }
}

const getHolder = (team: TeamContext, registryId: string): Holder => ({
  kind: 'registry',
  id: registryId,
  teamId: team.id,
})

async function lockRegistry(queries: Queries, team: TeamContext, registryId: string): Promise<void> {
  if (!(await lockRegistryRow(queries, team.id, registryId)))
    throw new CruxError('notFound', { property: 'registryId', value: registryId })
}

/** For the configuration of a distribution registry: https://distribution.github.io/distribution/about/notifications/ */
const notifications = (url: string, token: string): string => `notifications:
  events:
    includereferences: true
  endpoints:
    - name: crux
      url: ${url}
      headers:
        Authorization: ['Bearer ${token}']
      timeout: 500ms
      threshold: 5
      backoff: 1s
      ignoredmediatypes:
        - application/octet-stream
`

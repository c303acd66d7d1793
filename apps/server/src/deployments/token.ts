import { type Body, CruxError, isAllowed, type ResponseInput } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import type { SessionActor } from '../identity/index.ts'
import { loadDeployment } from '../releases/index.ts'
import {
  deploymentTokenMaker,
  type Holder,
  invalidateDeploymentToken,
  issueToken,
  selectTokens,
  tokensRevoked,
} from '../tokens/index.ts'

/** Seconds for which the suggested command waits for the end. */
const curlWaitS = 300

/**
 * Creates the one token that starts this deployment from outside. Only for rolling versions, because a deployment of an
 * incremental version succeeds only once.
 *
 * @throws CruxError notFound, preconditionFailed `versionType`, alreadyExists `deploymentId` or `name`
 */
export async function createDeploymentToken(
  app: App,
  { team, actor }: Caller<SessionActor>,
  deploymentId: string,
  body: Body<'deployments.create-token'>,
): Promise<ResponseInput<'deployments.create-token'>> {
  const holder: Holder = { kind: 'deployment', id: deploymentId, teamId: team.id }
  const { scope: _scope, ...made } = await inTransaction(app.database, async (queries) => {
    const deployment = await loadDeployment(queries, team.id, deploymentId, { lock: true })
    if (deployment.version.type !== 'rolling')
      throw new CruxError('preconditionFailed', {
        property: 'versionType',
        value: deployment.version.type,
        description: 'Only deployments of rolling versions have a token.',
      })
    const [present] = await selectTokens(queries, holder)
    if (present)
      throw new CruxError('alreadyExists', {
        property: 'deploymentId',
        value: deploymentId,
        description: `This deployment has the token "${present.name}" already: revoke it first.`,
      })
    const expirationInDays = body.expirationInDays ?? 0
    return issueToken(queries, holder, actor, { name: body.name, expirationInDays, scope: 'deploy' })
  })
  return {
    ...made,
    createdBy: actor.name,
    createdById: actor.id,
    curl: toCurlCommand(app.config.url, team.slug, deploymentId, made.token),
  }
}

/**
 * Its creator may revoke it, and users who manage other people's tokens.
 *
 * @throws CruxError notFound `deploymentId` or `token`, forbidden
 */
export async function deleteDeploymentToken(
  app: App,
  { team, actor }: Caller<SessionActor>,
  deploymentId: string,
): Promise<void> {
  const revoked = await inTransaction(app.database, async (queries) => {
    await loadDeployment(queries, team.id, deploymentId, { lock: true })
    const maker = await deploymentTokenMaker(queries, deploymentId)
    if (maker !== undefined && maker !== actor.id && !isAllowed(team.role, 'tokens.of-others'))
      throw new CruxError('forbidden', {
        property: 'token',
        description: 'Another user created this token: ask an admin to revoke it.',
      })
    return invalidateDeploymentToken(queries, deploymentId)
  })
  if (revoked.length === 0) throw new CruxError('notFound', { property: 'token' })
  tokensRevoked(app, revoked)
}

/** The command shows the outcome and fails unless it is a success, so that a pipeline can use it as a step. */
const toCurlCommand = (url: string, slug: string, deploymentId: string, token: string): string =>
  [
    `curl -sS -X POST -H 'Authorization: Bearer ${token}'`,
    `'${url}/api/${slug}/deployments/${deploymentId}/start?wait=${curlWaitS}'`,
    `| awk '{print} /"status":"successful"/{ok=1} END{exit !ok}'`,
  ].join(' ')

import { type Body, CruxError, type DeploymentStatus, type Query, type ResponseInput } from '@crux/contract'
import type { Caller, TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inRolledBackTransaction, inTransaction } from '../db/transaction.ts'
import {
  addDeployment,
  addDeploymentFrom,
  completePreview,
  findTargetVersion,
  prepareTarget,
  previewStart,
  readStart,
} from '../deployments/index.ts'
import { findFreezes } from '../freeze-windows/index.ts'
import { createAndStart, deploymentsChanged } from '../releases/index.ts'
import { recordEvent } from '../system/index.ts'
import { selectRunning } from './board-store.ts'
import { type Member, orderMembers } from './chain-order.ts'
import type { EnvironmentPath, EnvironmentRow } from './environment-store.ts'
import { findEnvironment } from './environments.ts'
import * as store from './promotion-store.ts'

/** A version for an environment, with its chain: the earliest version first. */
type Target = { environment: EnvironmentRow; version: Member; chain: Member[] }
type Source = { id: string; version: Member }

/**
 * Creates the deployment of a version in an environment, with the configuration of the nearest earlier version there.
 *
 * @throws CruxError notFound; forbidden `versionId`; alreadyExists `deploymentId` whose value is the existing one; as
 *   the creation of a deployment
 */
export async function createDeployment(
  app: App,
  caller: Caller,
  path: EnvironmentPath,
  body: Body<'packages.create-deployment'>,
): Promise<ResponseInput<'packages.create-deployment'>> {
  const { team } = caller
  const created = await inTransaction(app.database, async (queries) => {
    const target = await lockTarget(queries, team, path, body.versionId)
    const existing = await findExisting(queries, target)
    if (existing)
      throw new CruxError('alreadyExists', {
        property: 'deploymentId',
        value: existing.id,
        description: 'This version has a deployment in this environment already.',
      })
    const { id } = await addToEnvironment(queries, caller, target, body.note)
    const { nodeId, prefix } = target.environment
    return { deploymentId: id, projectId: target.projectId, nodeId, prefix }
  })
  const { deploymentId } = created
  deploymentsChanged(app, [{ deploymentId, teamId: team.id, status: 'preparing' }])
  prepareTarget(app, { ...created, teamId: team.id })
  const row = await store.selectChainDeployment(app.database.pool, deploymentId)
  if (!row) throw new CruxError('notFound', { property: 'deploymentId', value: deploymentId })
  return { ...row, audit: row }
}

/**
 * Starts the deployment of a version in an environment, and creates it before where there is none, all in one
 * transaction with the row of the history. Of two promotions of one version at once the second one waits for the lock of
 * the version, and finds a release in progress.
 *
 * @throws CruxError as `createDeployment` and as a start
 */
export async function promote(app: App, caller: Caller, path: EnvironmentPath, body: Body<'packages.promote'>) {
  const { team, actor } = caller
  const { ignoreProtected = false, expectedHash, overrideFreeze } = body
  const { created, confirmed, override } = await createAndStart(
    app,
    caller,
    async (queries) => {
      const { environment, ...target } = await lockTarget(queries, team, path, body.versionId)
      const from = await findOrigin(queries, team, path, target.version, body.fromEnvironmentId)
      const existing = await findExisting(queries, { environment, ...target })
      if (existing && body.note) await store.updateNote(queries, existing.id, body.note, actor.id)
      const { id: deploymentId } =
        existing ?? (await addToEnvironment(queries, caller, { environment, ...target }, body.note))
      const promotionId = await store.insertPromotion(queries, {
        environmentId: environment.id,
        version: target.version,
        from,
        note: body.note || null,
        deploymentId,
        // The version is locked against other starts, so that this is the number of the release that starts now.
        releaseNumber: (existing?.attempts ?? 0) + 1,
        overrideFreeze: (await isFrozen(queries, environment)) ? (overrideFreeze ?? null) : null,
        by: actor,
      })
      // Read here, because the environment may be deleted as soon as the transaction has ended. The release comes next.
      const promotion = { ...(await store.selectPromotion(queries, promotionId)), status: 'in-progress' as const }
      return { deploymentId, promotion, starts: true }
    },
    { ignoreProtected, expectedHash, overrideFreeze },
  )
  const { deploymentId, promotion } = created
  recordEvent(app, { teamId: team.id, ...path, deploymentId, promotionId: promotion.id }, 'version promoted')
  return { promotion, confirmed, override }
}

/**
 * Previews a promotion: creates the deployment as the promotion would, reads what a start of it would change, and rolls
 * it back. The agent is asked after that, so that no lock is held meanwhile.
 */
export async function previewPromotion(
  app: App,
  caller: Caller,
  path: EnvironmentPath,
  { versionId }: Query<'packages.preview-promotion'>,
): Promise<ResponseInput<'packages.preview-promotion'>> {
  const { team } = caller
  const { pool } = app.database
  const target = await findTarget(pool, team, path, versionId)
  const [freeze] = await findFreezes(pool, [target.environment], new Date())
  const existing = await findExisting(pool, target)
  if (existing)
    return {
      source: null,
      deploymentId: existing.id,
      unmatched: [],
      freeze,
      preview: await previewStart(app, caller, existing.id),
    }
  const { source, unmatched, read } = await inRolledBackTransaction(app.database, async (queries) => {
    const { id, ...added } = await addToEnvironment(queries, caller, target, null)
    return { ...added, read: await readStart(queries, caller, app.config.url, id) }
  })
  return {
    source: source && { deploymentId: source.id, version: source.version },
    deploymentId: null,
    unmatched,
    freeze,
    preview: await completePreview(app, read),
  }
}

export async function listPromotions(
  app: App,
  { team }: Caller,
  path: EnvironmentPath,
  page: Query<'packages.promotions'>,
): Promise<ResponseInput<'packages.promotions'>> {
  const { id } = await findEnvironment(app.database.pool, team, path)
  return store.selectPromotions(app.database.pool, id, page)
}

/** @throws CruxError notFound `environmentId`; forbidden `versionId`, also for versions of other teams */
async function findTarget(
  queries: Queries,
  team: TeamContext,
  path: EnvironmentPath,
  versionId: string,
): Promise<Target> {
  const environment = await findEnvironment(queries, team, path)
  const chain = orderMembers(await store.selectChainOfVersion(queries, path.packageId, versionId))
  const version = chain.find(({ id }) => id === versionId)
  if (!version)
    throw new CruxError('forbidden', {
      property: 'versionId',
      value: versionId,
      description: 'This version is in no version chain of the package.',
    })
  return { environment, version, chain }
}

/** A reason for an override that overrides nothing is not stored. */
const isFrozen = async (queries: Queries, environment: EnvironmentRow): Promise<boolean> =>
  (await findFreezes(queries, [environment], new Date()))[0] !== undefined

/** Locks the version against other creations and starts, in the order of db/lock-order.ts. */
async function lockTarget(
  queries: Queries,
  team: TeamContext,
  path: EnvironmentPath,
  versionId: string,
): Promise<Target & { projectId: string }> {
  const { environment } = await findTarget(queries, team, path, versionId)
  await store.holdEnvironment(queries, environment.id)
  const { projectId } = await findTargetVersion(queries, team.id, {
    versionId,
    nodeId: environment.nodeId,
    prefix: environment.prefix,
  })
  // Read again: the environment may have been moved, and the chain taken out of the package.
  return { ...(await findTarget(queries, team, path, versionId)), projectId }
}

/**
 * The environment that a version is promoted from, for the history. The version has to run there: another one may have
 * replaced it since the user saw it, and nobody writes an origin into the history that it did not have.
 */
async function findOrigin(
  queries: Queries,
  team: TeamContext,
  { packageId }: EnvironmentPath,
  version: Member,
  id?: string | null,
) {
  if (!id) return undefined
  const environment = await findEnvironment(queries, team, { packageId, environmentId: id }).catch((cause: unknown) => {
    if (cause instanceof CruxError && cause.code === 'notFound')
      throw new CruxError('notFound', { property: 'fromEnvironmentId', value: id, cause })
    throw cause
  })
  const running = await selectRunning(queries, { environmentId: id })
  if (running.some((row) => row.version.id === version.id)) return environment
  throw new CruxError('preconditionFailed', {
    property: 'fromEnvironmentId',
    value: id,
    description: `${version.name} does not run in ${environment.name}: reload to see what does.`,
  })
}

/** The deployment of the version that a promotion starts: the one in progress is refused by the start. */
const startOrder: readonly DeploymentStatus[] = ['in-progress', 'preparing']
async function findExisting(
  queries: Queries,
  { environment, version }: Target,
): Promise<store.FoundDeployment | undefined> {
  const found = await store.selectAtTarget(queries, environment, [version.id])
  for (const status of startOrder) {
    const first = found.find((one) => one.status === status)
    if (first) return first
  }
  return found[0]
}

/** An obsolete deployment ran there, as a successful one does. */
const sourceRanks: Record<DeploymentStatus, number> = {
  successful: 0,
  obsolete: 0,
  preparing: 1,
  failed: 2,
  'in-progress': 3,
}

/** The deployment of the nearest earlier version in the environment, locked against deletion. */
async function findSource(queries: Queries, { environment, version, chain }: Target): Promise<Source | undefined> {
  const earlier = chain
    .slice(
      0,
      chain.findIndex(({ id }) => id === version.id),
    )
    .reverse()
  if (earlier.length === 0) return undefined
  for (;;) {
    const found = await store.selectAtTarget(
      queries,
      environment,
      earlier.map(({ id }) => id),
    )
    const nearest = earlier.find(({ id }) => found.some(({ versionId }) => versionId === id))
    if (!nearest) return undefined
    const [source] = found
      .filter(({ versionId }) => versionId === nearest.id)
      .sort((one, other) => sourceRanks[one.status] - sourceRanks[other.status])
    // Only one is locked: a release that ends locks several deployments, in another order.
    if (source && (await store.holdDeployment(queries, source.id))) return { id: source.id, version: nearest }
  }
}

async function addToEnvironment(
  queries: Queries,
  caller: Caller,
  target: Target,
  note: string | null | undefined,
): Promise<{ id: string; source: Source | undefined; unmatched: { name: string }[] }> {
  const { nodeId, prefix } = target.environment
  const body = { versionId: target.version.id, nodeId, prefix, note }
  const source = await findSource(queries, target)
  if (source) return { ...(await addDeploymentFrom(queries, caller, body, source.id)), source }
  const { id } = await addDeployment(queries, caller, { ...body, protected: false })
  return { id, source: undefined, unmatched: [] }
}

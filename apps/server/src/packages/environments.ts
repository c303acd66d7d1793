import { type Body, CruxError, limits, type ResponseInput } from '@crux/contract'
import type { Caller, TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { findFreezes, freezesChanged, listFreezeWindows, lockStarts } from '../freeze-windows/index.ts'
import { findNodesById } from '../nodes/index.ts'
import { recordEvent } from '../system/index.ts'
import { byOrder, endFreezes, lockPackage } from './actions.ts'
import { selectChainDeployments, selectRunning } from './board-store.ts'
import { groupMembers } from './chain-order.ts'
import * as store from './environment-store.ts'
import { selectChains, selectMembers } from './store.ts'

type Write = Body<'packages.create-environment'>

export async function getEnvironment(
  app: App,
  { team }: Caller,
  path: store.EnvironmentPath,
): Promise<ResponseInput<'packages.get-environment'>> {
  const { pool } = app.database
  const environment = await findEnvironment(pool, team, path)
  const { packageId, packageName } = environment
  const [nodes, chains, members, deployments, running, freezeWindows, [freeze]] = await Promise.all([
    findNodesById(pool, team.id, [environment.nodeId]),
    selectChains(pool, { packageId }),
    selectMembers(pool, packageId),
    selectChainDeployments(pool, environment.id),
    selectRunning(pool, { environmentId: environment.id }),
    listFreezeWindows(pool, environment.id),
    findFreezes(pool, [environment], new Date()),
  ])
  const node = nodes.get(environment.nodeId)
  if (!node) throw environmentNotFound(path.environmentId)
  const versions = groupMembers(members)
  const deploymentsByVersion = new Map(deployments.map((row) => [row.versionId, row]))
  return {
    ...environment,
    node,
    package: { id: packageId, name: packageName },
    versionChains: chains.sort(byOrder).map(({ chainId, project }) => ({
      chainId,
      project,
      versions: (versions.get(chainId) ?? []).map(({ id, name, type }) => {
        const deployment = deploymentsByVersion.get(id)
        return { id, name, type, deployment: deployment && { ...deployment, audit: deployment } }
      }),
      running: running.find((row) => row.chainId === chainId),
    })),
    freezeWindows,
    freeze,
  }
}

/** @throws CruxError notFound `packageId` or `nodeId`; alreadyExists `name`; preconditionFailed `packageId` */
export async function createEnvironment(
  app: App,
  { team, actor }: Caller,
  packageId: string,
  body: Write,
): Promise<ResponseInput<'packages.create-environment'>> {
  const id = await inTransaction(app.database, async (queries) => {
    await lockPackage(queries, team, packageId)
    await holdNode(queries, team, body.nodeId)
    const { length } = await store.selectEnvironments(queries, packageId)
    if (length >= limits.packageEnvironments)
      throw new CruxError('preconditionFailed', {
        property: 'packageId',
        value: packageId,
        description: `A package has at most ${limits.packageEnvironments} environments: delete one first.`,
      })
    return store.insertEnvironment(queries, packageId, { ...body, userId: actor.id })
  })
  recordEvent(app, { teamId: team.id, packageId, environmentId: id }, 'environment created')
  const created = await findEnvironment(app.database.pool, team, { packageId, environmentId: id })
  const node = (await findNodesById(app.database.pool, team.id, [created.nodeId])).get(created.nodeId)
  if (!node) throw environmentNotFound(id)
  return { ...created, node }
}

/**
 * Deployments and containers stay at the previous node and prefix. Freeze windows move along: starts at the new target
 * that have been checked end first, as when a window is created there.
 */
export async function updateEnvironment(
  app: App,
  { team, actor }: Caller,
  path: store.EnvironmentPath,
  body: Write,
): Promise<void> {
  const unfrozenNodes = await inTransaction(app.database, async (queries) => {
    await lockPackage(queries, team, path.packageId)
    const before = await findEnvironment(queries, team, path)
    await holdNode(queries, team, body.nodeId)
    const isMoved = before.nodeId !== body.nodeId || before.prefix !== body.prefix
    const nodeIds = isMoved ? await endFreezes(queries, team, { environmentId: before.id }) : []
    if (nodeIds.length > 0) await lockStarts(queries, body)
    await store.updateEnvironment(queries, before.id, { ...body, userId: actor.id })
    return nodeIds
  })
  freezesChanged(app, unfrozenNodes)
  recordEvent(app, { teamId: team.id, ...path }, 'environment changed')
}

export async function deleteEnvironment(app: App, { team }: Caller, path: store.EnvironmentPath): Promise<void> {
  const unfrozenNodes = await inTransaction(app.database, async (queries) => {
    await lockPackage(queries, team, path.packageId)
    const { id } = await findEnvironment(queries, team, path)
    const nodeIds = await endFreezes(queries, team, { environmentId: id })
    await store.deleteEnvironment(queries, id)
    return nodeIds
  })
  freezesChanged(app, unfrozenNodes)
  recordEvent(app, { teamId: team.id, ...path }, 'environment deleted')
}

/** Requires all environments of the package, each once. */
export async function orderEnvironments(
  app: App,
  { team, actor }: Caller,
  packageId: string,
  ids: readonly string[],
): Promise<void> {
  await inTransaction(app.database, async (queries) => {
    await lockPackage(queries, team, packageId)
    const known = new Set((await store.selectEnvironments(queries, packageId)).map(({ id }) => id))
    const foreign = ids.find((id) => !known.has(id))
    if (foreign) throw environmentNotFound(foreign)
    if (ids.length !== known.size || new Set(ids).size !== known.size)
      throw new CruxError('invalidArgument', {
        property: 'body',
        description: 'The order has to name all environments of the package, each once.',
      })
    await store.orderEnvironments(queries, ids, actor.id)
  })
  recordEvent(app, { teamId: team.id, packageId }, 'environments reordered')
}

/** @throws CruxError notFound */
export async function findEnvironment(
  queries: Queries,
  team: TeamContext,
  path: store.EnvironmentPath,
): Promise<store.EnvironmentRow> {
  const row = await store.selectEnvironment(queries, team.id, path)
  if (!row) throw environmentNotFound(path.environmentId)
  return row
}

export const environmentNotFound = (id: string) => new CruxError('notFound', { property: 'environmentId', value: id })

async function holdNode(queries: Queries, team: TeamContext, nodeId: string): Promise<void> {
  if (!(await store.holdNode(queries, team.id, nodeId)))
    throw new CruxError('notFound', { property: 'nodeId', value: nodeId })
}

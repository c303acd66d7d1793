import { type Body, CruxError, isAllowed, type ResponseInput } from '@crux/contract'
import type { Caller, TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { freezesChanged, listWithFreezeWindows } from '../freeze-windows/index.ts'
import { findNodesById } from '../nodes/index.ts'
import { findProject } from '../projects/index.ts'
import { recordEvent } from '../system/index.ts'
import { type ChainEnds, findEnds, groupMembers } from './chain-order.ts'
import { lockEnvironments, selectEnvironmentNames, selectEnvironments } from './environment-store.ts'
import * as store from './store.ts'

type Write = Body<'packages.create'>

export async function listVersionChains(
  app: App,
  { team }: Caller,
  projectId: string,
): Promise<ResponseInput<'projects.version-chains'>> {
  await findProject(app, team, projectId)
  const chains = groupMembers(await store.selectMembersOfProject(app.database.pool, projectId))
  return [...chains].flatMap(([id, members]) => {
    const [earliest, latest] = [members[0], members.at(-1)]
    return earliest && latest ? [{ id, earliest, latest }] : []
  })
}

export async function listPackages(app: App, { team }: Caller): Promise<ResponseInput<'packages.list'>> {
  const { pool } = app.database
  const ofTeam = { teamId: team.id }
  const [packages, chains, ends, environments] = await Promise.all([
    store.selectPackages(pool, team.id),
    store.selectChains(pool, ofTeam),
    store.selectEnds(pool, ofTeam),
    selectEnvironmentNames(pool, team.id),
  ])
  const [chainsByPackage, environmentsByPackage, byId] = [
    groupByPackage(chains),
    groupByPackage(environments),
    findEnds(ends),
  ]
  return packages.map((row) => ({
    ...row,
    ...toChains(chainsByPackage.get(row.id) ?? [], byId),
    environments: (environmentsByPackage.get(row.id) ?? []).map(({ name }) => name),
  }))
}

export async function getPackage(app: App, { team }: Caller, id: string): Promise<ResponseInput<'packages.get'>> {
  const { pool } = app.database
  const row = await findPackage(pool, team, id)
  const [chains, ends, environments] = await Promise.all([
    store.selectChains(pool, { packageId: id }),
    store.selectEnds(pool, { packageId: id }),
    selectEnvironments(pool, id),
  ])
  const [nodes, frozen] = await Promise.all([
    findNodesById(
      pool,
      team.id,
      environments.map(({ nodeId }) => nodeId),
    ),
    listWithFreezeWindows(
      pool,
      environments.map((environment) => environment.id),
    ),
  ])
  return {
    ...row,
    audit: row,
    ...toChains(chains.sort(byOrder), findEnds(ends)),
    environments: environments.flatMap((environment) => {
      const node = nodes.get(environment.nodeId)
      return node ? [{ ...environment, node, hasFreezeWindows: frozen.has(environment.id) }] : []
    }),
  }
}

/** @throws CruxError alreadyExists `name`; forbidden or invalidArgument `chainIds` */
export async function createPackage(app: App, caller: Caller, body: Write): Promise<ResponseInput<'packages.create'>> {
  const { team, actor } = caller
  const id = await inTransaction(app.database, async (queries) => {
    const chains = await requireChains(queries, team, undefined, body.chainIds)
    const created = await store.insertPackage(queries, team.id, toValues(body, actor.id))
    await store.replaceChains(queries, created, chains)
    return created
  })
  recordEvent(app, { teamId: team.id, packageId: id }, 'package created')
  return getPackage(app, caller, id)
}

/** Chains that are not named are removed from the package. Deployments and containers stay. */
export async function updatePackage(app: App, { team, actor }: Caller, id: string, body: Write): Promise<void> {
  await inTransaction(app.database, async (queries) => {
    await lockPackage(queries, team, id)
    const chains = await requireChains(queries, team, id, body.chainIds)
    await store.updatePackage(queries, id, toValues(body, actor.id))
    await store.replaceChains(queries, id, chains)
  })
  recordEvent(app, { teamId: team.id, packageId: id }, 'package changed')
}

/** @throws CruxError notFound; forbidden while one of its environments has freeze windows that this user may not lift */
export async function deletePackage(app: App, { team }: Caller, id: string): Promise<void> {
  const unfrozenNodes = await inTransaction(app.database, async (queries) => {
    await lockPackage(queries, team, id)
    const nodeIds = await endFreezes(queries, team, { packageId: id })
    await store.deletePackage(queries, id)
    return nodeIds
  })
  freezesChanged(app, unfrozenNodes)
  recordEvent(app, { teamId: team.id, packageId: id }, 'package deleted')
}

/**
 * Locks environments that are about to be moved or deleted. With freeze windows only an admin may do that, because it
 * ends the freeze.
 *
 * @returns the nodes whose freezes end
 * @throws CruxError forbidden `freezeWindows`
 */
export async function endFreezes(
  queries: Queries,
  team: TeamContext,
  of: { packageId: string } | { environmentId: string },
): Promise<string[]> {
  const environments = await lockEnvironments(queries, of)
  const withWindows = await listWithFreezeWindows(
    queries,
    environments.map(({ id }) => id),
  )
  if (withWindows.size > 0 && !isAllowed(team.role, 'packages.freeze'))
    throw new CruxError('forbidden', {
      property: 'freezeWindows',
      description: 'There are freeze windows, and this would end them: only an admin of the team may do that.',
    })
  return environments.filter(({ id }) => withWindows.has(id)).map(({ nodeId }) => nodeId)
}

/** @throws CruxError notFound */
export async function findPackage(queries: Queries, team: TeamContext, id: string): Promise<store.PackageRow> {
  const row = await store.selectPackage(queries, team.id, id)
  if (!row) throw packageNotFound(id)
  return row
}

/** @throws CruxError notFound */
export async function lockPackage(queries: Queries, team: TeamContext, id: string): Promise<void> {
  if (!(await store.lockPackage(queries, team.id, id))) throw packageNotFound(id)
}

export const packageNotFound = (id: string) => new CruxError('notFound', { property: 'packageId', value: id })

/** The chains in the order of `ids`, each with its project. */
async function requireChains(
  queries: Queries,
  team: TeamContext,
  packageId: string | undefined,
  ids: readonly string[],
) {
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice)
    throw new CruxError('invalidArgument', {
      property: 'chainIds',
      value: twice,
      description: 'A package contains each version chain only once.',
    })
  const projects = await store.findChains(queries, team.id, packageId, ids)
  return ids.map((chainId) => {
    const projectId = projects.get(chainId)
    if (!projectId)
      throw new CruxError('forbidden', {
        property: 'chainIds',
        value: chainId,
        description: 'This is no version chain of the team. Only incremental versions have chains.',
      })
    return { chainId, projectId }
  })
}

const toValues = ({ name, description, icon }: Write, userId: string): store.PackageValues => ({
  name,
  description: description || null,
  icon: icon ?? null,
  userId,
})

/** Chains without versions are listed apart, because they have neither an earliest nor a latest one. */
function toChains(chains: readonly store.ChainRow[], byId: ReadonlyMap<string, ChainEnds>) {
  return {
    versionChains: chains.flatMap(({ chainId, project }) => {
      const chain = byId.get(chainId)
      return chain ? [{ ...chain, project }] : []
    }),
    emptyChains: chains
      .filter(({ chainId }) => !byId.has(chainId))
      .map(({ chainId, project }) => ({ id: chainId, project })),
  }
}

export const byOrder = (one: { order: number }, other: { order: number }) => one.order - other.order

function groupByPackage<Row extends { packageId: string; order: number }>(rows: readonly Row[]): Map<string, Row[]> {
  return Map.groupBy([...rows].sort(byOrder), ({ packageId }) => packageId)
}

import type { DeploymentStatus, ResponseInput } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import { findFreezes } from '../freeze-windows/index.ts'
import { findNodesById } from '../nodes/index.ts'
import { byOrder, findPackage } from './actions.ts'
import { type LatestRow, type RunningRow, selectLatest, selectRunning } from './board-store.ts'
import { groupMembers, type Member } from './chain-order.ts'
import { type EnvironmentRow, selectEnvironments } from './environment-store.ts'
import { selectChains, selectMembers } from './store.ts'

type Board = ResponseInput<'packages.board'>

/** What runs of a package, in as many queries whatever its size is. */
export async function getBoard(app: App, { team }: Caller, packageId: string): Promise<Board> {
  const { pool } = app.database
  await findPackage(pool, team, packageId)
  const [environments, chains, members, running, latest] = await Promise.all([
    selectEnvironments(pool, packageId),
    selectChains(pool, { packageId }),
    selectMembers(pool, packageId),
    selectRunning(pool, { packageId }),
    selectLatest(pool, packageId),
  ])
  const [nodes, freezes] = await Promise.all([
    findNodesById(
      pool,
      team.id,
      environments.map(({ nodeId }) => nodeId),
    ),
    findFreezes(pool, environments, new Date()),
  ])
  const versions = groupMembers(members)
  const [runningAt, latestAt] = [byCell(running), byCell(latest)]
  return {
    environments: environments.flatMap((environment, index) => {
      const node = nodes.get(environment.nodeId)
      return node ? [{ ...environment, node, freeze: freezes[index] }] : []
    }),
    projects: chains.sort(byOrder).map(({ chainId, project }) => {
      const ordered = versions.get(chainId) ?? []
      return {
        chainId,
        project,
        latest: ordered.at(-1),
        cells: toCells(environments, ordered, (environmentId) => {
          const key = toKey({ environmentId, chainId })
          return { running: runningAt.get(key), latest: latestAt.get(key) }
        }),
      }
    }),
  }
}

type Found = { running: RunningRow | undefined; latest: LatestRow | undefined }
/** A deployment that ended successfully is what runs, or what ran before its containers were removed. */
const unfinished: readonly DeploymentStatus[] = ['preparing', 'in-progress', 'failed']

function toCells(
  environments: readonly EnvironmentRow[],
  ordered: readonly Member[],
  find: (environmentId: string) => Found,
): Board['projects'][number]['cells'] {
  const positions = new Map(ordered.map(({ id }, index) => [id, index]))
  const position = (row: RunningRow | undefined) => (row && positions.get(row.version.id)) ?? -1
  const found = environments.map(({ id }) => find(id))
  return environments.map(({ id: environmentId }, index) => {
    const { running, latest } = found[index] ?? {}
    const before = found[index - 1]?.running
    return {
      environmentId,
      running,
      latest: latest && unfinished.includes(latest.status) ? latest : undefined,
      newerBefore: before && position(before) > position(running) ? before.version : undefined,
    }
  })
}

const toKey = ({ environmentId, chainId }: { environmentId: string; chainId: string }) => `${environmentId} ${chainId}`
const byCell = <Row extends { environmentId: string; chainId: string }>(rows: readonly Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [toKey(row), row]))

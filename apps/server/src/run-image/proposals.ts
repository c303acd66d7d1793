import { CruxError, limits, type Params, type Query, type ResponseInput } from '@crux/contract'
import { defaultContainerName } from '@crux/rules'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { proposePorts, type TargetNode } from '../deployments/index.ts'
import { readImage } from './image-source.ts'
import { selectPrefixes, selectProjectNames, selectTargetNode } from './store.ts'

/** Prefix and name of a container share 63 characters. */
export const containerNameMax = 30

/** Proposes what the dialog is filled with. Nothing is reserved: the start has the last word. */
export async function proposeRun(
  app: App,
  { team }: Caller,
  { nodeId }: Pick<Params<'nodes.run-proposal'>, 'nodeId'>,
  { image, prefix, ports }: Query<'nodes.run-proposal'>,
): Promise<ResponseInput<'nodes.run-proposal'>> {
  const { pool } = app.database
  const node = await findTargetNode(pool, team.id, nodeId)
  const { fullName } = readImage(image)
  const [name, free, prefixUsedBy] = await Promise.all([
    proposeName(pool, team.id, fullName),
    proposePrefix(pool, { teamId: team.id, nodeId }, fullName),
    prefix === undefined ? null : findPrefixUser(pool, { teamId: team.id, nodeId, prefix }),
  ])
  const target = { teamId: team.id, node, prefix: prefix ?? free }
  return { name, prefix: prefix ?? free, prefixUsedBy, ports: await proposePorts(app, target, ports ?? []) }
}

/** @throws CruxError notFound `nodeId`, also for a node of another team */
export async function findTargetNode(queries: Queries, teamId: string, nodeId: string): Promise<TargetNode> {
  const node = await selectTargetNode(queries, teamId, nodeId)
  if (!node) throw new CruxError('notFound', { property: 'nodeId', value: nodeId })
  return node
}

/** The last part of the image's name, with a number where the team has a project of that name. */
export async function proposeName(queries: Queries, teamId: string, fullName: string): Promise<string> {
  const base = getShortName(fullName).padEnd(limits.name.min, '-')
  return findFree(base, ' ', new Set(await selectProjectNames(queries, teamId, base)))
}

export const getShortName = (fullName: string): string =>
  defaultContainerName(fullName).slice(0, containerNameMax).replace(/-+$/, '')

/** The name of the project that uses the prefix on the node. */
export async function findPrefixUser(
  queries: Queries,
  { teamId, nodeId, prefix }: { teamId: string; nodeId: string; prefix: string },
): Promise<string | null> {
  const used = await selectPrefixes(queries, teamId, nodeId, prefix)
  return used.find((one) => one.prefix === prefix)?.projectName ?? null
}

async function proposePrefix(queries: Queries, target: { teamId: string; nodeId: string }, fullName: string) {
  const base = getShortName(fullName)
  const used = await selectPrefixes(queries, target.teamId, target.nodeId, base)
  return findFree(base, '-', new Set(used.map(({ prefix }) => prefix)))
}

/** The text itself, or with the first number from 2 up that makes it unique. */
function findFree(base: string, separator: string, used: ReadonlySet<string>): string {
  let free = base
  for (let number = 2; used.has(free); number++) free = `${base}${separator}${number}`
  return free
}

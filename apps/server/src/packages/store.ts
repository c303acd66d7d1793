import type { ProjectType } from '@crux/contract'
import { type Queries, raw, type Sql, sql } from '../db/queries.ts'
import type { IconName } from '../db/schema/columns.ts'
import type { End, Member } from './chain-order.ts'

export type PackageRow = {
  id: string
  name: string
  description: string | null
  icon: IconName | null
  createdAt: Date
  createdBy: string
  updatedAt: Date
  updatedBy: string
}
export type ChainRow = {
  packageId: string
  chainId: string
  order: number
  project: { id: string; name: string; type: ProjectType }
}

const columns = sql`k.id, k.name, k.description, k.icon, k.created_at, k.created_by, k.updated_at, k.updated_by`

export const selectPackages = (queries: Queries, teamId: string) =>
  sql`select ${columns} from crux.package k where k.team_id = ${teamId}
    order by k.name`.rows<PackageRow>(queries, 'packages')

/** @returns undefined when it does not exist in this team */
export const selectPackage = (queries: Queries, teamId: string, id: string) =>
  sql`select ${columns} from crux.package k
    where k.id = ${id} and k.team_id = ${teamId}`.first<PackageRow>(queries, 'package')

/** Changes of a package, its chains and its environments wait for each other. @returns false when it is not in this team */
export const lockPackage = async (queries: Queries, teamId: string, id: string): Promise<boolean> =>
  (await sql`select from crux.package where id = ${id} and team_id = ${teamId} for update`.execute(queries)) === 1

/** In the place of a condition: the packages of a team, or one package. */
export type Packages = { teamId: string } | { packageId: string }
const among = (packages: Packages): Sql =>
  'teamId' in packages ? sql`k.team_id = ${packages.teamId}` : sql`k.id = ${packages.packageId}`
const kind = (packages: Packages) => ('teamId' in packages ? 'of team' : 'of package')

/** In no order; `order` has it. */
export const selectChains = (queries: Queries, packages: Packages) =>
  sql`select c.package_id, c.chain_id, c."order",
      json_build_object('id', p.id, 'name', p.name, 'type', p.type) as project
    from crux.package k
    join crux.package_chain c on c.package_id = k.id
    join crux.project p on p.id = c.project_id
    where ${among(packages)}`.rows<ChainRow>(queries, `chains ${kind(packages)}`)

/** The versions at both ends of the chains, and of the parts into which deletions have split them. */
export const selectEnds = (queries: Queries, packages: Packages) =>
  sql`select ${memberColumns}, v.parent_id is null as is_earliest, ${isLatest} as is_latest
    from crux.package k
    join crux.package_chain c on c.package_id = k.id
    join crux.version v on v.chain_id = c.chain_id and v.project_id = c.project_id
    where ${among(packages)} and (v.parent_id is null or ${isLatest})`.rows<End>(
    queries,
    `ends of chains ${kind(packages)}`,
  )

const memberColumns = raw('v.id, v.name, v.type, v.chain_id, v.parent_id')
const isLatest = raw('not exists (select from crux.version child where child.parent_id = v.id)')

/** All versions of the chains of a package, in the order of their creation. */
export const selectMembers = (queries: Queries, packageId: string) =>
  sql`select ${memberColumns}
    from crux.package_chain c
    join crux.version v on v.chain_id = c.chain_id and v.project_id = c.project_id
    where c.package_id = ${packageId} order by v.id`.rows<Member>(queries, 'versions of a package')

/** The versions of a project that have a chain, in the order of their creation. */
export const selectMembersOfProject = (queries: Queries, projectId: string) =>
  sql`select ${memberColumns} from crux.version v
    where v.project_id = ${projectId} and v.chain_id is not null order by v.id`.rows<Member>(queries)

/**
 * The project of each chain of the team among these; a chain without versions only if the package has it already. They
 * cannot be deleted until the transaction ends.
 */
export async function findChains(
  queries: Queries,
  teamId: string,
  packageId: string | undefined,
  chainIds: readonly string[],
): Promise<Map<string, string>> {
  const rows = await sql`select v.chain_id, p.id as project_id
    from crux.version v join crux.project p on p.id = v.project_id
    where v.chain_id = any(${chainIds}::uuid[]) and p.team_id = ${teamId} order by p.id for key share of p`.rows<{
    chainId: string
    projectId: string
  }>(queries)
  const kept = await sql`select c.chain_id, c.project_id from crux.package_chain c
    where c.package_id = ${packageId ?? null}::uuid and c.chain_id = any(${chainIds}::uuid[])`.rows<{
    chainId: string
    projectId: string
  }>(queries)
  return new Map([...kept, ...rows].map(({ chainId, projectId }) => [chainId, projectId]))
}

export type PackageValues = Pick<PackageRow, 'name' | 'description' | 'icon'> & { userId: string }

export const insertPackage = (queries: Queries, teamId: string, values: PackageValues) =>
  sql`insert into crux.package (team_id, name, description, icon, created_by, updated_by)
    values (${teamId}, ${values.name}, ${values.description}, ${values.icon}, ${values.userId}, ${values.userId})
    returning id`.id(queries)

export const updatePackage = (queries: Queries, id: string, values: PackageValues) =>
  sql`update crux.package set name = ${values.name}, description = ${values.description}, icon = ${values.icon},
    updated_at = now(), updated_by = ${values.userId} where id = ${id}`.execute(queries)

export const deletePackage = (queries: Queries, id: string) =>
  sql`delete from crux.package where id = ${id}`.execute(queries)

/** Stores the complete list in its order. */
export async function replaceChains(
  queries: Queries,
  packageId: string,
  chains: readonly { chainId: string; projectId: string }[],
): Promise<void> {
  await sql`delete from crux.package_chain where package_id = ${packageId}`.execute(queries)
  if (chains.length === 0) return
  await sql`insert into crux.package_chain (package_id, chain_id, project_id, "order")
    select ${packageId}, chain_id, project_id, position
    from unnest(${chains.map((chain) => chain.chainId)}::uuid[], ${chains.map((chain) => chain.projectId)}::uuid[])
      with ordinality as t(chain_id, project_id, position)`.execute(queries)
}

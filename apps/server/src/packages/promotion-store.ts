import type { DeploymentStatus, ResponseInput } from '@crux/contract'
import { type Queries, sql } from '../db/queries.ts'
import type { ChainDeploymentRow } from './board-store.ts'
import type { Member } from './chain-order.ts'

/** All members of the chain of a version, in the order of their creation; none if the package does not have that chain. */
export const selectChainOfVersion = (queries: Queries, packageId: string, versionId: string) =>
  sql`select v.id, v.name, v.type, v.chain_id, v.parent_id
    from crux.version t
    join crux.package_chain c on c.package_id = ${packageId} and c.chain_id = t.chain_id
      and c.project_id = t.project_id
    join crux.version v on v.chain_id = c.chain_id and v.project_id = c.project_id
    where t.id = ${versionId} order by v.id`.rows<Member>(queries, 'chain of a version')

/** The environment cannot be deleted until the transaction ends. */
export const holdEnvironment = (queries: Queries, id: string) =>
  sql`select from crux.package_environment where id = ${id} for key share`.execute(queries)

type Target = { nodeId: string; prefix: string }
export type FoundDeployment = {
  id: string
  versionId: string
  status: DeploymentStatus
  attempts: number
  updatedAt: Date
}

/** The deployments of these versions of one project at a node and prefix, those that changed last first. */
export const selectAtTarget = (queries: Queries, { nodeId, prefix }: Target, versionIds: readonly string[]) =>
  sql`select d.id, d.version_id, d.status, d.attempts, d.updated_at from crux.deployment d
    where d.node_id = ${nodeId} and d.prefix = ${prefix}
      and d.project_id = (select project_id from crux.version where id = ${versionIds[0]})
      and d.version_id = any(${versionIds}::uuid[])
    order by d.updated_at desc, d.id desc`.rows<FoundDeployment>(queries, 'deployments of a chain at a target')

/** The deployment cannot be deleted until the transaction ends. @returns false when it was deleted */
export const holdDeployment = async (queries: Queries, id: string): Promise<boolean> =>
  (await sql`select from crux.deployment where id = ${id} for key share`.execute(queries)) === 1

export const updateNote = (queries: Queries, deploymentId: string, note: string, userId: string) =>
  sql`update crux.deployment set note = ${note}, updated_at = now(), updated_by = ${userId}
    where id = ${deploymentId}`.execute(queries)

export const selectChainDeployment = (queries: Queries, id: string) =>
  sql`select id, prefix, protected, status, created_at, created_by, updated_at, updated_by
    from crux.deployment where id = ${id}`.first<Omit<ChainDeploymentRow, 'versionId'>>(queries)

export type NewPromotion = {
  environmentId: string
  version: { id: string; name: string }
  from: { id: string; name: string } | undefined
  note: string | null
  deploymentId: string
  releaseNumber: number
  overrideFreeze: string | null
  by: { id: string; name: string }
}

/** One row per release: its unique key is the deployment and the number of the release. */
export const insertPromotion = (queries: Queries, row: NewPromotion) =>
  sql`insert into crux.package_promotion (environment_id, version_id, version_name, project_id, project_name,
      from_environment_id, from_environment_name, note, deployment_id, release_number, override_freeze, created_by_id,
      created_by_name)
    select ${row.environmentId}, ${row.version.id}, ${row.version.name}, p.id, p.name, ${row.from?.id ?? null}::uuid,
      ${row.from?.name ?? null}, ${row.note}, ${row.deploymentId}, ${row.releaseNumber}, ${row.overrideFreeze},
      ${row.by.id}, ${row.by.name}
    from crux.version v join crux.project p on p.id = v.project_id where v.id = ${row.version.id} returning id`.id(
    queries,
  )

type Promotion = ResponseInput<'packages.promote'>

/**
 * The status is that of the release while it exists, because a lease that ran out is corrected later; then what was
 * copied at its end, and `unknown` where the deployment was deleted before.
 */
const details = sql`select h.id, h.created_at, h.note, h.release_number, h.override_freeze, d.id as deployment_id,
    json_build_object('id', h.created_by_id, 'name', h.created_by_name) as created_by,
    json_build_object('id', v.id, 'name', h.version_name) as version,
    json_build_object('id', p.id, 'name', h.project_name) as project,
    case when h.from_environment_name is not null
      then json_build_object('id', f.id, 'name', h.from_environment_name) end as "from",
    coalesce(r.status, nullif(h.status, 'in-progress'), 'unknown') as status,
    case when r.id is null then h.reason else r.reason end as reason,
    case when r.id is null then h.finished_at else r.finished_at end as finished_at`
const joins = sql`left join crux.deployment d on d.id = h.deployment_id
  left join crux.release r on r.deployment_id = h.deployment_id and r.number = h.release_number
  left join crux.version v on v.id = h.version_id
  left join crux.project p on p.id = h.project_id
  left join crux.package_environment f on f.id = h.from_environment_id`

/** The newest first. */
export async function selectPromotions(
  queries: Queries,
  environmentId: string,
  { skip, take }: { skip: number; take: number },
): Promise<{ items: Promotion[]; total: number }> {
  const [items, total = 0] = await Promise.all([
    sql`${details} from (select * from crux.package_promotion where environment_id = ${environmentId}
        order by created_at desc, id desc offset ${skip} limit ${take}) h
      ${joins} order by h.created_at desc, h.id desc`.rows<Promotion>(queries, 'promotions'),
    sql`select count(*)::int from crux.package_promotion
      where environment_id = ${environmentId}`.value<number>(queries, 'number of promotions'),
  ])
  return { items, total }
}

export const selectPromotion = (queries: Queries, id: string) =>
  sql`${details} from crux.package_promotion h ${joins} where h.id = ${id}`.one<Promotion>(queries, 'promotion')

/** Repeatable; of two ends of one release, which the second corrects, the later one stays. */
export const updateEnd = (
  queries: Queries,
  release: { deploymentId: string; releaseNumber: number },
  end: { status: 'successful' | 'failed'; reason: string | null; at: string },
) =>
  sql`update crux.package_promotion set status = ${end.status}, reason = ${end.reason}, finished_at = ${end.at}
    where deployment_id = ${release.deploymentId} and release_number = ${release.releaseNumber}
      and (finished_at is null or finished_at <= ${end.at}::timestamptz)`.execute(queries, 'end of a promotion')

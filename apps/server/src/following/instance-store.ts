import type { FollowMode } from '@crux/contract'
import { type Queries, type Sql, sql } from '../db/queries.ts'
import { followedTagOfImage, releasedDigests } from '../releases/index.ts'

/** An instance that follows with `deploy`, whose tag has a digest that no release of it has tried. */
export type NewerInstance = {
  id: string
  deploymentId: string
  teamId: string
  followedBy: string
  digest: string
  /** The deliveries of hooks that led to the digest; none where it was found before the instance was switched. */
  deliveryIds: string[]
}

/**
 * A digest is new unless it runs, or the last release ran with it, or following started a release for it already, or a
 * rollback left it. The agent may report another digest of an image than the registry does, so that what was started is
 * compared as well.
 */
const selectNewer = (where: Sql) => sql`
  select inst.id, inst.deployment_id, d.team_id, inst.followed_by, ft.digest,
    case when inst.updated_at <= ft.digest_at then ft.digest_deliveries else '{}' end as delivery_ids
  from crux.instance inst
  join crux.deployment d on d.id = inst.deployment_id
  join crux.image i on i.id = inst.image_id
  ${followedTagOfImage} ${releasedDigests}
  where inst.follow = 'deploy' and ft.digest is not null and d.status in ('successful', 'failed', 'in-progress')
    and last.number is not null
    and ft.digest is distinct from last.digest and ft.digest is distinct from running.digest
    and ft.digest is distinct from inst.follow_digest
    and not (last.source_number is not null and exists (
      select from crux.release left_behind
      join crux.release_instance ri on ri.release_id = left_behind.id and ri.instance_id = inst.id
      where left_behind.deployment_id = d.id and left_behind.number > last.source_number and ri.digest = ft.digest))
    and ${where}`

export const newerOfDeployment = (queries: Queries, deploymentId: string) =>
  sql`${selectNewer(sql`d.id = ${deploymentId}`)} order by i."order", i.id`.rows<NewerInstance>(
    queries,
    'newer images of a deployment',
  )

/** The deployments that a new digest of the tag starts. */
export const deploymentsToStart = (queries: Queries, tagId: string) =>
  sql`select distinct deployment_id from (${selectNewer(sql`ft.id = ${tagId}`)}) newer`.column(
    queries,
    'deployments that a tag starts',
  )

export const deploymentsOfTag = (queries: Queries, tagId: string) =>
  sql`select distinct inst.deployment_id from crux.followed_tag ft
    join crux.image i on i.registry_id = ft.registry_id and i.name = ft.name
      and coalesce(nullif(i.tag, ''), 'latest') = ft.tag
    join crux.instance inst on inst.image_id = i.id and inst.follow <> 'off'
    where ft.id = ${tagId}`.column(queries, 'deployments that follow a tag')

/** When following last started a release of a deployment, in milliseconds before now. */
export const lastStartAgeMs = (queries: Queries, deploymentId: string) =>
  sql`select extract(epoch from now() - started_at)::float8 * 1000 from crux.release
    where deployment_id = ${deploymentId} and trigger = 'follow' order by number desc limit 1`.value<number>(
    queries,
    'last start by following',
  )

export const postpone = (queries: Queries, instanceIds: readonly string[], waitMs: number) =>
  sql`update crux.instance set follow_due_at = now() + ${waitMs}::float8 * interval '1 millisecond'
    where id = any(${instanceIds}::uuid[])`.execute(queries, 'postpone releases by following')

/** Deployments whose postponed decision is due. They are due again in half a minute, in case this server ends before. */
export const claimDue = (queries: Queries) =>
  sql`with due as (
      update crux.instance set follow_due_at = now() + interval '30 seconds' where id in (
        select id from crux.instance where follow_due_at <= now() order by id limit 100 for update skip locked)
      returning deployment_id)
    select distinct deployment_id from due`.column(queries, 'due releases by following')

export const clearDue = (queries: Queries, deploymentId: string) =>
  sql`update crux.instance set follow_due_at = null
    where deployment_id = ${deploymentId} and follow_due_at is not null`.execute(queries, 'nothing to follow is due')

/** Records the digests that a release is started for. */
export const storeStarted = (queries: Queries, digests: ReadonlyMap<string, string>) =>
  sql`update crux.instance inst set follow_digest = started.digest, follow_problem = null, follow_due_at = null
    from unnest(${[...digests.keys()]}::uuid[], ${[...digests.values()]}::text[]) as started(id, digest)
    where inst.id = started.id`.execute(queries, 'store started digests')

/**
 * The start is tried again with the next check of the tag, and at `dueAt` if the problem has an end.
 *
 * @returns whether it is another problem than before
 */
export async function storeProblem(
  queries: Queries,
  instanceIds: readonly string[],
  { problem, dueAt }: { problem: string; dueAt: Date | undefined },
): Promise<boolean> {
  const others = await sql`update crux.instance inst
    set follow_problem = ${problem}, follow_due_at = ${dueAt ?? null}::timestamptz
    from (select id, follow_problem from crux.instance where id = any(${instanceIds}::uuid[]) and follow = 'deploy'
      order by id for update) before
    where inst.id = before.id
    returning before.follow_problem is distinct from ${problem} as is_other`.column<boolean>(
    queries,
    'store problem of following',
  )
  return others.includes(true)
}

/** The deployments of a node whose last start by following was refused. */
export const refusedOnNode = (queries: Queries, nodeId: string) =>
  sql`select distinct d.id from crux.deployment d join crux.instance inst on inst.deployment_id = d.id
    where d.node_id = ${nodeId} and inst.follow = 'deploy' and inst.follow_problem is not null`.column(
    queries,
    'refused starts by following',
  )

/** An instance whose `deploy` the server has changed to `notify`, and the user who had switched it on. */
export type Downgraded = { instanceId: string; userId: string; problem: string }

/** Changes `deploy` to `notify` with the reason. @returns the instances that changed */
export const downgrade = (queries: Queries, instanceIds: readonly string[], problem: string): Promise<Downgraded[]> =>
  sql`update crux.instance set follow = 'notify', follow_problem = ${problem}, follow_due_at = null
    where id = any(${instanceIds}::uuid[]) and follow = 'deploy'
    returning id as instance_id, followed_by as user_id, follow_problem as problem`.rows<Downgraded>(
    queries,
    'change deploy to notify',
  )

/** Stores what a user switched. A digest whose release failed counts as new again. */
export const storeFollow = (
  queries: Queries,
  { instanceId, follow, userId }: { instanceId: string; follow: FollowMode; userId: string },
) =>
  sql`update crux.instance set follow = ${follow}, followed_by = ${follow === 'off' ? null : userId},
      follow_problem = null, follow_digest = null, follow_due_at = null, updated_at = now()
    where id = ${instanceId}`.execute(queries, 'switch following')

/** The deployments with `deploy` whose configurations have this layer, or this deployment if one of its instances has `deploy`. */
export const deployingWith = (queries: Queries, by: { configId: string } | { deploymentId: string }) =>
  sql`select distinct d.id, d.team_id from crux.instance inst
    join crux.deployment d on d.id = inst.deployment_id
    where inst.follow = 'deploy' and ${
      'deploymentId' in by
        ? sql`d.id = ${by.deploymentId}`
        : sql`exists (select from crux.container_config c where c.id = ${by.configId} and (
            c.instance_id = inst.id or c.deployment_id = d.id or c.image_id = inst.image_id
            or exists (select from crux.deployment_config_bundle b
              where b.deployment_id = d.id and b.config_bundle_id = c.config_bundle_id)))`
    }`.rows<{ id: string; teamId: string }>(
    queries,
    // A connection accepts one text for a name.
    'deploymentId' in by ? 'deployment that deploys by following' : 'deployments that deploy with a layer',
  )

export const selectDeploying = (queries: Queries, deploymentId: string) =>
  sql`select id from crux.instance where deployment_id = ${deploymentId} and follow = 'deploy'`.column(
    queries,
    'instances that deploy by following',
  )

/** The type of a registry, whose tags can be followed if Crux sends requests to it. */
export const selectRegistryType = (queries: Queries, registryId: string) =>
  sql`select type from crux.registry where id = ${registryId}`.value(queries, 'type of a registry')

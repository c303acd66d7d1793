import { type Sql, sql } from '../db/queries.ts'

/**
 * The digests that releases of the deployment `d` ran the instance `inst` with, for statements that name both:
 * `last` is the newest release that has ended, `running` the newest successful one. Both are missing before the first,
 * and where the image or its tag is another one now.
 */
export const releasedDigests: Sql = sql`
  left join lateral (
    select r.number, r.source_number, ri.digest, ri.registry_id, ri.image_tag
    from crux.release r join crux.release_instance ri on ri.release_id = r.id and ri.instance_id = inst.id
    where r.deployment_id = d.id and r.status <> 'in-progress' and inst.follow <> 'off'
    order by r.number desc limit 1) last
    on last.registry_id = i.registry_id and last.image_tag = coalesce(nullif(i.tag, ''), 'latest')
  left join lateral (
    select ri.digest, ri.registry_id, ri.image_tag
    from crux.release r join crux.release_instance ri on ri.release_id = r.id and ri.instance_id = inst.id
    where r.deployment_id = d.id and r.status = 'successful' and inst.follow <> 'off'
    order by r.number desc limit 1) running
    on running.registry_id = i.registry_id and running.image_tag = coalesce(nullif(i.tag, ''), 'latest')`

/** The digest that a followed tag has in its registry and that does not run; null where there is none. */
export const pendingDigest: Sql = sql`case when ft.digest <> running.digest then ft.digest end`

/** The row of the tag that the image `i` has, and that instances follow. */
export const followedTagOfImage: Sql = sql`
  left join crux.followed_tag ft on ft.registry_id = i.registry_id and ft.name = i.name
    and ft.tag = coalesce(nullif(i.tag, ''), 'latest')`

import { type Queries, sql } from '../db/queries.ts'
import { releaseTitleSql } from '../db/release-title.ts'

/** A rollback to this many successful releases of a deployment target needs no pull. */
const releasesKept = 3

/** An image of releases of a node; `neededBy` names the release that still needs it. */
export type KnownImage = { name: string; tag: string; digest: string | null; neededBy: string | null }

/**
 * Images that releases on a node need, each once: their own, and those of init and config containers, by name alone
 * until the agent has reported their digests. Needed are the images of current releases, of those in progress, and of
 * the last releases of each deployment target. The query runs per target along an index, because a node may have had
 * any number of releases.
 */
export const neededImages = (queries: Queries, nodeId: string) =>
  sql`with recursive target as (
      (select prefix, project_id from crux.release where node_id = ${nodeId} order by prefix, project_id limit 1)
      union all
      select next.* from target cross join lateral (
        select prefix, project_id from crux.release
        where node_id = ${nodeId} and (prefix, project_id) > (target.prefix, target.project_id)
        order by prefix, project_id limit 1) as next),
    needed as (
      select id, 0 as rank from crux.release where node_id = ${nodeId} and current
      union all select id, 0 from crux.release where node_id = ${nodeId} and status = 'in-progress'
      union all select last.* from target cross join lateral (
        select id, row_number() over (order by finished_at desc nulls last) as rank from crux.release
        where node_id = ${nodeId} and prefix = target.prefix and project_id = target.project_id
          and status = 'successful'
        order by finished_at desc nulls last limit ${releasesKept}) as last)
    select of.name, of.tag, of.digest,
      (array_agg(${releaseTitleSql('r')} || ' as ' || r.prefix || ', release ' || r.number
        order by needed.rank, r.id))[1] as needed_by
    from needed join crux.release r on r.id = needed.id
    join crux.release_instance ri on ri.release_id = r.id
    cross join lateral (
      select ri.image_name as name, ri.image_tag as tag, ri.digest
      union all
      select name, '', found from jsonb_each_text(ri.preparation_digests) as resolved (name, found)
      union all
      select image #>> '{}', '', null from jsonb_path_query(ri.config,
        'lax $.initContainers[*].image ? (@ != "")') as image where ri.preparation_digests = '{}'
      union all
      select image #>> '{}', '', null from jsonb_path_query(ri.config,
        'lax $.configContainer.image ? (@ != "")') as image where ri.preparation_digests = '{}') as of
    group by of.name, of.tag, of.digest`.rows<KnownImage>(queries, 'images that releases of a node need')

/** The digests among these that releases of the node have ever used, and their names. */
export const usedImages = (queries: Queries, nodeId: string, digests: readonly string[]) =>
  sql`select name, '' as tag, digest, null as needed_by from crux.node_image
    where node_id = ${nodeId}
    and digest = any(${digests}::text[])`.rows<KnownImage>(queries, 'images that releases of a node have used')

/**
 * The longest key of a PostgreSQL index is 2,704 bytes. An agent may report any text, and none of its reports may fail
 * permanently.
 */
const keyBytesMax = 2_500
const fitsAnIndex = ({ name, digest }: { name: string; digest: string }) =>
  Buffer.byteLength(name) + Buffer.byteLength(digest) <= keyBytesMax

/** Uses one statement with a fixed order: releases of a node that resolve the same images at once wait once, and never deadlock. */
export const rememberImages = (queries: Queries, nodeId: string, images: readonly { name: string; digest: string }[]) =>
  sql`insert into crux.node_image (node_id, digest, name)
    select distinct ${nodeId}::uuid, digest, name
    from jsonb_to_recordset(${JSON.stringify(images.filter(fitsAnIndex))}::jsonb) as found(name text, digest text)
    order by digest, name on conflict do nothing`.execute(queries, 'remember images of a node')

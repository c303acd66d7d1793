import type { Queries } from '../db/transaction.ts'

/** So many successful releases of a place can be gone back to without pulling anything. */
const releasesKept = 3

/** An image that a release of this node names, and whether one still needs it. */
export type KnownImage = { name: string; tag: string; digest: string | null; needed: boolean; by: string }

/**
 * Every image that releases on a node have used, each once: their own, and those of init and config containers, by name alone until
 * the agent has said what they are. Needed is what stands, what is under way, and what the last releases of each place had.
 */
export async function knownImages(queries: Queries, nodeId: string): Promise<KnownImage[]> {
  const { rows } = await queries.query<KnownImage>({
    name: 'images that releases of a node have used',
    text: `with ranked as (
        select r.id, r.project_name, r.version_name, r.prefix, r.number, r.standing or r.status = 'in-progress' as now,
          case when r.status = 'successful' then row_number() over (
            partition by r.prefix, r.project_id, r.status order by r.finished_at desc nulls last, r.started_at desc) end as rank
        from crux.release r where r.node_id = $1),
      used as (
        select ranked.*, of.name, of.tag, of.digest from ranked
        join crux.release_instance ri on ri.release_id = ranked.id
        cross join lateral (
          select ri.image_name as name, ri.image_tag as tag, ri.digest
          union all
          select name, '', found from jsonb_each_text(ri.preparation_digests) as resolved (name, found)
          union all
          select image #>> '{}', '', null from jsonb_path_query(ri.config,
            'lax $.initContainers[*].image ? (@ != "")') as image where ri.preparation_digests = '{}'
          union all
          select image #>> '{}', '', null from jsonb_path_query(ri.config,
            'lax $.configContainer.image ? (@ != "")') as image where ri.preparation_digests = '{}') as of)
      select name, tag, digest, bool_or(now or coalesce(rank <= $2, false)) as needed,
        (array_agg(project_name || ' ' || version_name || ' as ' || prefix || ', release ' || number
          order by now desc, rank nulls last))[1] as by
      from used group by name, tag, digest`,
    values: [nodeId, releasesKept],
  })
  return rows
}

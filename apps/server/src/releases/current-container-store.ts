import { stopGracePeriodMs } from '@crux/rules'
import { type Queries, raw, sql } from '../db/queries.ts'
import { currentContainersSql, type Owner, type ReleaseInstanceRow } from './store.ts'

/** A container that runs by the records, with the data of the release that created it. */
export type CurrentContainer = Pick<
  ReleaseInstanceRow,
  'instanceId' | 'imageName' | 'imageTag' | 'digest' | 'preparationDigests' | 'config'
> & { name: string }

/** The current containers of a project at a deployment target. */
export const currentContainers = (queries: Queries, owner: Owner) =>
  currentContainersSql(
    `ri.container_name as name, ri.instance_id, ri.image_name,
      ri.image_tag, ri.digest, ri.preparation_digests, ri.config`,
    owner,
  ).rows<CurrentContainer>(queries, 'current containers')

/** The number of releases that are searched for a measured downtime; the retention keeps their events. */
export const releasesForForecast = 5

/** The downtime of a replacement, and the grace period of the container that was stopped for it. */
export type MeasuredDowntime = { milliseconds: number; gracePeriodMs: number }

/**
 * The downtime of the last replacement of each container in milliseconds, by the agent's own clock: from the event that
 * the previous one is stopped to the end of the new one's start. Unknown where none was stopped recently.
 */
export async function measuredPauses(queries: Queries, owner: Owner): Promise<Map<string, MeasuredDowntime>> {
  type Row = { name: string; milliseconds: number; seconds: number | null }
  const rows = await sql`select distinct on (ri.container_name) ri.container_name as name,
      extract(epoch from started.created_at - stopped.created_at)::float8 * 1000 as milliseconds, (
        select (ei.config ->> 'stopGracePeriodSeconds')::float8
        from crux.release e join crux.release_instance ei on ei.release_id = e.id
        where e.node_id = ${owner.nodeId} and e.prefix = ${owner.prefix} and e.project_id = ${owner.projectId}
          and e.status = 'successful'
          and ei.container_name = ri.container_name and e.finished_at < r.finished_at
        order by e.finished_at desc limit 1) as seconds
    from (select id, deployment_id, number, finished_at from crux.release
        where node_id = ${owner.nodeId} and prefix = ${owner.prefix} and project_id = ${owner.projectId}
    and status = 'successful'
        order by finished_at desc nulls last limit ${raw(releasesForForecast)}) r
    join crux.release_instance ri on ri.release_id = r.id
    join crux.deployment_event stopped on stopped.deployment_id = r.deployment_id and stopped.attempt = r.number
      and stopped.instance_id = ri.instance_id::text and stopped.type = 'log' and stopped.value ? 'silences'
    join crux.deployment_event started on started.deployment_id = r.deployment_id and started.attempt = r.number
      and started.instance_id = ri.instance_id::text and started.type = 'phase'
      and started.value->>'phase' = 'start' and started.value->>'state' = 'done'
      and started.created_at > stopped.created_at
    order by ri.container_name, r.finished_at desc nulls last,
    started.position desc`.rows<Row>(queries, 'measured pauses')
  return new Map(
    rows.map(({ name, milliseconds, seconds }) => [
      name,
      { milliseconds: Math.round(milliseconds), gracePeriodMs: stopGracePeriodMs({ stopGracePeriodSeconds: seconds }) },
    ]),
  )
}

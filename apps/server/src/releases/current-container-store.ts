import type { FinalContainerConfig } from '@crux/contract'
import { stopGracePeriodMs } from '@crux/rules'
import type { Queries } from '../db/transaction.ts'
import { currentContainersSql, type Owner } from './store.ts'

/** A container that runs by the records, with the data of the release that created it. */
export type CurrentContainer = {
  name: string
  instanceId: string
  imageName: string
  imageTag: string
  digest: string | null
  preparationDigests: Record<string, string>
  config: FinalContainerConfig
}

/** The current containers of a project at a deployment target. */
export async function currentContainers(queries: Queries, owner: Owner): Promise<CurrentContainer[]> {
  const { rows } = await queries.query<CurrentContainer>({
    name: 'current containers',
    text: currentContainersSql(`ri.container_name as name, ri.instance_id, ri.image_name,
      ri.image_tag, ri.digest, ri.preparation_digests, ri.config`),
    values: [owner.nodeId, owner.prefix, owner.projectId],
  })
  return rows
}

/** The number of releases that are searched for a measured downtime; the retention keeps their events. */
export const releasesForForecast = 5

/** The downtime of a replacement, and the grace period of the container that was stopped for it. */
export type MeasuredPause = { milliseconds: number; gracePeriodMs: number }

/**
 * The downtime of the last replacement of each container in milliseconds, by the agent's own clock: from the event that
 * the previous one is stopped to the end of the new one's start. Unknown where none was stopped recently.
 */
export async function measuredPauses(queries: Queries, owner: Owner): Promise<Map<string, MeasuredPause>> {
  type Row = { name: string; milliseconds: number; seconds: number | null }
  const { rows } = await queries.query<Row>({
    name: 'measured pauses',
    text: `select distinct on (ri.container_name) ri.container_name as name,
        extract(epoch from started.created_at - stopped.created_at)::float8 * 1000 as milliseconds, (
          select (ei.config ->> 'stopGracePeriodSeconds')::float8
          from crux.release e join crux.release_instance ei on ei.release_id = e.id
          where e.node_id = $1 and e.prefix = $2 and e.project_id = $3 and e.status = 'successful'
            and ei.container_name = ri.container_name and e.finished_at < r.finished_at
          order by e.finished_at desc limit 1) as seconds
      from (select id, deployment_id, number, finished_at from crux.release
          where node_id = $1 and prefix = $2 and project_id = $3 and status = 'successful'
          order by finished_at desc nulls last limit ${releasesForForecast}) r
      join crux.release_instance ri on ri.release_id = r.id
      join crux.deployment_event stopped on stopped.deployment_id = r.deployment_id and stopped.attempt = r.number
        and stopped.instance_id = ri.instance_id::text and stopped.type = 'log' and stopped.value ? 'silences'
      join crux.deployment_event started on started.deployment_id = r.deployment_id and started.attempt = r.number
        and started.instance_id = ri.instance_id::text and started.type = 'phase'
        and started.value->>'phase' = 'start' and started.value->>'state' = 'done'
        and started.created_at > stopped.created_at
      order by ri.container_name, r.finished_at desc nulls last, started.position desc`,
    values: [owner.nodeId, owner.prefix, owner.projectId],
  })
  return new Map(
    rows.map(({ name, milliseconds, seconds }) => [
      name,
      { milliseconds: Math.round(milliseconds), gracePeriodMs: stopGracePeriodMs({ stopGracePeriodSeconds: seconds }) },
    ]),
  )
}

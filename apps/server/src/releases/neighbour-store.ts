import type { FinalContainerConfig } from '@crux/contract'
import { type Queries, sql } from '../db/queries.ts'
import type { Owner } from './store.ts'

/** A container of another prefix or project on the same node, by the records. */
export type Neighbour = {
  /** Its full name on the engine. */
  name: string
  projectName: string
  config: Pick<FinalContainerConfig, 'expose' | 'routing' | 'ports' | 'portRanges' | 'networkMode' | 'portGate'>
}

/**
 * Containers on a node outside of a deployment target: those of current releases, and those that releases in progress
 * will create. All of them are the team's, as the node is. Only the agent knows containers that no release of this team
 * created.
 */
export const listNeighbours = (queries: Queries, { nodeId, prefix, projectId }: Owner) =>
  sql`select name, project_name, jsonb_strip_nulls(jsonb_build_object('expose', config->'expose', 'routing',
      config->'routing',
        'ports', config->'ports', 'portRanges', config->'portRanges', 'networkMode', config->'networkMode',
        'portGate', config->'portGate')) as config
    from (
      (select distinct on (name) name, made.project_name, ri.config
        from crux.release s
        cross join lateral jsonb_array_elements_text(s.container_names) as name
        join crux.release made on made.node_id = s.node_id and made.prefix = s.prefix
          and made.project_id = s.project_id and made.status = 'successful'
        join crux.release_instance ri on ri.release_id = made.id and made.prefix || '-' || ri.container_name = name
        where s.node_id = ${nodeId} and not (s.prefix = ${prefix} and s.project_id = ${projectId}) and s.current
        order by name, made.finished_at desc nulls last)
      union all
      (select r.prefix || '-' || ri.container_name, r.project_name, ri.config
        from crux.release r join crux.release_instance ri on ri.release_id = r.id
        where r.node_id = ${nodeId} and r.status = 'in-progress' and not (r.prefix = ${prefix}
          and r.project_id = ${projectId}))
    ) as others
    order by name`.rows<Neighbour>(queries, 'neighbours of a deployment target')

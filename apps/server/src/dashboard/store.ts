import type { ResponseInput } from '@crux/contract'
import type { App } from '../context.ts'
import { sql } from '../db/queries.ts'

type Dashboard = ResponseInput<'dashboard.get'>
type Counters = Pick<Dashboard, 'users' | 'projects' | 'versions'> & Pick<Dashboard['more'], 'nodes' | 'registries'>
type Steps = {
  deploymentId: string | null
  deployed: boolean
  nodeId: string | null
  projectId: string | null
  versionId: string | null
  imageConfigId: string | null
}

export const selectCounters = (app: App, teamId: string) =>
  sql`select
      (select count(*)::int from crux.team_member where team_id = ${teamId}) as users,
      (select count(*)::int from crux.project where team_id = ${teamId}) as projects,
      (select count(*)::int from crux.version v join crux.project p on p.id = v.project_id
        where p.team_id = ${teamId}) as versions,
      (select count(*)::int from crux.node where team_id = ${teamId}) as nodes,
      (select count(*)::int from crux.registry where team_id = ${teamId}) as registries`.shared<Counters>(
    app.database,
    'dashboard counters',
  )

/**
 * The first steps follow the oldest deployment; without one the version with the most images, else the oldest project.
 * The node defaults to the oldest. A step whose resource is missing counts as not done.
 */
export const selectSteps = (app: App, teamId: string) =>
  sql`with first as (
      select id, node_id, project_id, version_id, status from crux.deployment where team_id = ${teamId}
      order by created_at, id limit 1),
    fullest as (
      select v.id, v.project_id from crux.version v join crux.project p on p.id = v.project_id
      where p.team_id = ${teamId}
      order by (select count(*) from crux.image i where i.version_id = v.id) desc, v.id limit 1),
    chosen as (select coalesce((select version_id from first), (select id from fullest)) as version_id)
    select (select id from first) as deployment_id,
      coalesce((select status <> 'preparing' from first), false) as deployed,
      coalesce((select node_id from first),
        (select id from crux.node where team_id = ${teamId} order by created_at, id limit 1)) as node_id,
      coalesce((select project_id from first), (select project_id from fullest),
        (select id from crux.project where team_id = ${teamId} order by created_at, id limit 1)) as project_id,
      chosen.version_id, (select c.id from crux.image i join crux.container_config c on c.image_id = i.id
        where i.version_id = chosen.version_id order by i.created_at, i.id limit 1) as image_config_id
    from chosen`.shared<Steps>(app.database, 'dashboard steps')

import { limits } from '@crux/contract'
import { isoTypes } from '@crux/postgres'
import type { App } from '../context.ts'
import { sql } from '../db/queries.ts'
import { isUpdatingSql } from '../nodes/index.ts'
import { pendingDigest, releasedDigests } from '../releases/index.ts'

/** One more than is returned, to tell whether there are others. */
const take = limits.attention + 1
/** The newest failed releases of a team that are examined, so that the statement takes the same time however many there are. */
const failedMax = 1_000

type FailedRelease = { deploymentId: string; release: number; failedAt: string }
type PendingDigest = {
  deploymentId: string
  instanceId: string
  imageName: string
  imageTag: string
  digest: string
  since: string | null
}

/**
 * Failed deployments that no later release of their project at their node and prefix has ended, by the time of the
 * failure. Deployments with the status `failed` do not suffice: one of another version that succeeds later leaves them
 * as they are.
 */
export const selectFailures = (app: App, teamId: string) =>
  sql`select r.deployment_id, r.number as release, r.finished_at as failed_at
    from (select id, deployment_id, number, node_id, prefix, project_id, started_at, finished_at from crux.release
      where team_id = ${teamId} and status = 'failed' order by finished_at desc limit ${failedMax}) r
    join crux.deployment d on d.id = r.deployment_id and d.attempts = r.number and d.status = 'failed'
    where not exists (select from crux.release later
      where later.node_id = r.node_id and later.prefix = r.prefix and later.project_id = r.project_id
        and later.started_at > r.started_at)
    order by r.finished_at desc, r.id limit ${take}`.shared<FailedRelease>(
    app.database,
    'failures to attend to',
    isoTypes,
  )

/** Nodes without a link that had one. Without a token the agent was disconnected on purpose. */
export const selectUnreachable = (app: App, teamId: string) =>
  sql`select n.id, n.name, n.type, n.disconnected_at as since from crux.node n
    where n.team_id = ${teamId} and n.link_server is null and n.connected_at is not null and not ${isUpdatingSql}
      and exists (select from crux.node_token t where t.node_id = n.id)
    order by n.disconnected_at desc nulls last, n.name limit ${take}`.shared<{
    id: string
    name: string
    type: 'docker' | 'k8s'
    since: string | null
  }>(app.database, 'unreachable nodes', isoTypes)

/** A release in progress may be about to run the digest, so its deployment waits. */
export const selectPendingDigests = (app: App, teamId: string) =>
  sql`select d.id as deployment_id, inst.id as instance_id, i.name as image_name, ft.tag as image_tag,
      ${pendingDigest} as digest, ft.digest_at as since
    from crux.registry owner
    join crux.followed_tag ft on ft.registry_id = owner.id and ft.digest is not null
    join crux.image i on i.registry_id = ft.registry_id and i.name = ft.name
      and coalesce(nullif(i.tag, ''), 'latest') = ft.tag
    join crux.instance inst on inst.image_id = i.id and inst.follow <> 'off'
    join crux.deployment d on d.id = inst.deployment_id and d.team_id = owner.team_id
      and d.status in ('successful', 'failed')
    ${releasedDigests}
    where owner.team_id = ${teamId} and ft.digest <> running.digest
    order by ft.digest_at desc nulls last, d.id, i."order" limit ${take}`.shared<PendingDigest>(
    app.database,
    'pending digests',
    isoTypes,
  )

export const selectFailedPipelines = (app: App, teamId: string) =>
  sql`select p.id, p.name, run.id as run_id, run.reason, coalesce(run.finished_at, run.created_at) as failed_at
    from crux.pipeline p
    join lateral (select id, status, reason, created_at, finished_at from crux.pipeline_run
      where pipeline_id = p.id order by created_at desc, id desc limit 1) run on run.status = 'failed'
    where p.team_id = ${teamId} order by failed_at desc, p.id limit ${take}`.shared<{
    id: string
    name: string
    runId: string
    reason: string | null
    failedAt: string
  }>(app.database, 'failed pipelines', isoTypes)

export const selectDisabledNotifications = (app: App, teamId: string) =>
  sql`select id, name, problem from crux.notification
    where team_id = ${teamId} and not active and problem is not null order by updated_at desc, id limit ${take}`.shared<{
    id: string
    name: string
    problem: string
  }>(app.database, 'disabled notifications', isoTypes)

import { type Queries, sql } from '../db/queries.ts'
import type { TargetNode } from '../deployments/index.ts'

export type ImageRun = { requestHash: string; projectId: string; versionId: string; deploymentId: string }

/** What an earlier request with this key has created; its project still exists. */
export const findRun = (queries: Queries, teamId: string, key: string) =>
  sql`select request_hash, project_id, version_id, deployment_id from crux.image_run
    where team_id = ${teamId} and key = ${key}`.first<ImageRun>(queries, 'run of an image')

export const insertRun = (queries: Queries, teamId: string, key: string, run: ImageRun) =>
  sql`insert into crux.image_run (team_id, key, request_hash, project_id, version_id, deployment_id)
    values (${teamId}, ${key}, ${run.requestHash}, ${run.projectId}, ${run.versionId}, ${run.deploymentId})`.execute(
    queries,
  )

export const selectTargetNode = (queries: Queries, teamId: string, nodeId: string) =>
  sql`select id, name, type from crux.node where id = ${nodeId} and team_id = ${teamId}`.first<TargetNode>(queries)

/** The names of the team's projects that begin with this text. */
export const selectProjectNames = (queries: Queries, teamId: string, start: string) =>
  sql`select name from crux.project where team_id = ${teamId} and starts_with(name, ${start})`.column(queries)

/** The prefixes on a node that begin with this text, each with a project that has a deployment there. */
export const selectPrefixes = (queries: Queries, teamId: string, nodeId: string, start: string) =>
  sql`select distinct on (d.prefix) d.prefix, p.name as project_name
    from crux.deployment d join crux.project p on p.id = d.project_id
    where d.node_id = ${nodeId} and d.team_id = ${teamId} and starts_with(d.prefix, ${start})
    order by d.prefix, d.id`.rows<{ prefix: string; projectName: string }>(queries)

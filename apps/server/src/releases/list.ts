import { CruxError, type ResponseInput } from '@crux/contract'
import type { TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import { releaseTitleSql } from '../db/release-title.ts'
import type { Queries } from '../db/transaction.ts'
import { deploymentNotFound } from './deployment-store.ts'
import { type ReleaseInstanceRow, type ReleaseRow, releaseColumns, releaseInstances } from './store.ts'

export async function findRelease(
  queries: Queries,
  deploymentId: string,
  number: number,
): Promise<ReleaseRow | undefined> {
  const { rows } = await queries.query<ReleaseRow>(
    `select ${releaseColumns} from crux.release r where r.deployment_id = $1 and r.number = $2`,
    [deploymentId, number],
  )
  return rows[0]
}

export const findReleaseInstances = (queries: Queries, releaseId: string): Promise<ReleaseInstanceRow[]> =>
  releaseInstances(queries, releaseId)

/** Converts an instance to the form that the checks of a start use. */
export const toPlanned = ({
  instanceId,
  config,
  registryId,
  imageName,
  imageTag,
  localOnly,
}: Pick<ReleaseInstanceRow, 'instanceId' | 'config' | 'registryId' | 'imageName' | 'imageTag' | 'localOnly'>) => ({
  id: instanceId,
  configId: '',
  config,
  image: { registryId, reference: imageName, tag: imageTag, localOnly },
})

/** A rollback is possible only to a release that was successful. */
export const refuseUnsuccessful = ({ status, number }: ReleaseRow): CruxError | undefined =>
  status === 'successful'
    ? undefined
    : new CruxError('preconditionFailed', {
        property: 'number',
        value: number,
        description: `Release ${number} did not succeed: choose one that did.`,
      })

type Row = ReleaseRow & {
  eventsDropped: boolean
  instances: ResponseInput<'deployments.releases'>[number]['instances']
}

/** The starts of a deployment, newest first; all of them, because users started each one. */
export async function listReleases(
  app: App,
  team: TeamContext,
  deploymentId: string,
): Promise<ResponseInput<'deployments.releases'>> {
  const { pool } = app.database
  const { rowCount } = await pool.query('select from crux.deployment where id = $1 and team_id = $2', [
    deploymentId,
    team.id,
  ])
  if (rowCount === 0) throw deploymentNotFound(deploymentId)
  const { rows } = await pool.query<Row>({
    name: 'releases',
    text: `select ${releaseColumns}, r.events_dropped, (
        select coalesce(json_agg(json_build_object('instanceId', ri.instance_id, 'containerName', ri.container_name,
          'imageName', ri.image_name, 'imageTag', ri.image_tag, 'digest', ri.digest) order by ri."order"), '[]')
        from crux.release_instance ri where ri.release_id = r.id) as instances
      from crux.release r where r.deployment_id = $1 order by r.number desc limit 1000`,
    values: [deploymentId],
  })
  return rows.map((row) => ({
    number: row.number,
    status: row.status,
    startedAt: row.startedAt.toISOString(),
    startedBy: { id: row.startedById, name: row.startedByName },
    dispatchedAt: row.dispatchedAt?.toISOString() ?? null,
    finishedAt: row.finishedAt?.toISOString() ?? null,
    versionName: row.versionName,
    reason: row.reason,
    current: row.current,
    ...(row.eventsDropped && { logRemovedAfterDays: app.config.eventRetentionDays }),
    instances: row.instances,
  }))
}

/** What the head of a release in a log says, with the names of its containers by instance. */
export type ReleaseTitle = {
  number: number
  prefix: string
  title: string
  nodeName: string
  startedByName: string
  names: Record<string, string>
}

export async function readReleaseTitles(
  queries: Queries,
  deploymentId: string,
  numbers: readonly number[],
): Promise<ReleaseTitle[]> {
  const { rows } = await queries.query<ReleaseTitle>({
    name: 'release titles',
    text: `select r.number, r.prefix, ${releaseTitleSql('r')} as title, n.name as node_name, r.started_by_name, (
          select coalesce(json_object_agg(ri.instance_id, ri.container_name), '{}')
          from crux.release_instance ri where ri.release_id = r.id) as names
      from crux.release r join crux.node n on n.id = r.node_id
      where r.deployment_id = $1 and r.number = any($2::int[])`,
    values: [deploymentId, numbers],
  })
  return rows
}

import type { DeploymentEvent, Query, ResponseInput } from '@crux/contract'
import type { TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import { deploymentNotFound } from './deployment-store.ts'
import { readEventPage, readEvents, toEvent } from './event-store.ts'

/**
 * The newest attempt, and its last event.
 *
 * @throws CruxError notFound
 */
export async function findAttempts(app: App, team: TeamContext, deploymentId: string) {
  const { rows } = await app.database.pool.query<{ attempts: number; versionId: string; position: number }>({
    name: 'attempts of a deployment',
    text: `select attempts, version_id, (
        select coalesce(max(position), 0)::float8 from crux.deployment_event e
        where e.deployment_id = d.id and e.attempt = d.attempts) as position
      from crux.deployment d where id = $1 and team_id = $2`,
    values: [deploymentId, team.id],
  })
  const [row] = rows
  if (!row) throw deploymentNotFound(deploymentId)
  return row
}

export async function getLog(
  app: App,
  team: TeamContext,
  deploymentId: string,
  query: Query<'deployments.log'>,
): Promise<ResponseInput<'deployments.log'>> {
  await findAttempts(app, team, deploymentId)
  const page = await readEventPage(app.database.pool, deploymentId, { ...query, try: query.try })
  return { items: page.items.map(toEvent), total: page.total }
}

/** All events of the newest attempt, whether it is in progress or has ended: a page never mixes several attempts. */
export async function latestEvents(app: App, team: TeamContext, deploymentId: string): Promise<DeploymentEvent[]> {
  const { attempts } = await findAttempts(app, team, deploymentId)
  const rows = await readEvents(app.database.pool, deploymentId, attempts, { after: 0 })
  return rows.map(toEvent)
}

import type { DeploymentEvent, Query, ResponseInput } from '@crux/contract'
import type { Caller, TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import { readEventPage, readEvents, toEvent } from './event-store.ts'
import { findAttempts } from './store.ts'

export async function getLog(
  app: App,
  { team }: Caller,
  deploymentId: string,
  query: Query<'deployments.log'>,
): Promise<ResponseInput<'deployments.log'>> {
  await findAttempts(app.database.pool, team.id, deploymentId)
  const page = await readEventPage(app.database.pool, deploymentId, { ...query, try: query.try })
  return { items: page.items.map(toEvent), total: page.total }
}

/** All events of the newest attempt, whether it is in progress or has ended: a page never mixes several attempts. */
export async function latestEvents(app: App, team: TeamContext, deploymentId: string): Promise<DeploymentEvent[]> {
  const { attempts } = await findAttempts(app.database.pool, team.id, deploymentId)
  const rows = await readEvents(app.database.pool, deploymentId, attempts, { after: 0 })
  return rows.map(toEvent)
}

import type { App } from '../context.ts'
import type { TeamEvent } from '../team-events/index.ts'
import { insertDeliveries } from './delivery-store.ts'
import { toMessage } from './message.ts'
import type { Sender } from './sender.ts'

/** Creates the deliveries of an event, and wakes the sender. May be repeated. */
export async function notify(app: App, sender: Pick<Sender, 'run'>, event: TeamEvent): Promise<void> {
  const { key, teamId, type } = event
  const created = await insertDeliveries(app.database.pool, { key, teamId, event: type, ...toMessage(event) })
  if (created > 0) await sender.run()
}

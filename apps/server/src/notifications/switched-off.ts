import { recordAudit } from '../audit-log/index.ts'
import type { App } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import { recordEvent } from '../system/index.ts'
import { skipDeliveries, type Target } from './delivery-store.ts'
import { switchOff } from './store.ts'

const problem =
  'The address answered 410: it does not exist any more. Enter a new address and switch the notification on.'

/**
 * Switches off a notification whose address does not exist any more. The audit entry names the user who edited it last,
 * because the server acts for them.
 */
export async function switchedOff(app: App, { id, url }: Pick<Target, 'id' | 'url'>, teamId: string): Promise<void> {
  const editor = await inTransaction(app.database, async (queries) => {
    const userId = await switchOff(queries, id, { url, problem })
    if (userId !== undefined) await skipDeliveries(queries, id)
    return userId
  })
  if (editor === undefined) return
  recordEvent(app, { teamId, notificationId: id }, 'notification switched off')
  const { name, email } = (await app.identity.people([editor])).get(editor) ?? { name: 'Unknown user', email: '' }
  await recordAudit(app, {
    teamId,
    actor: { kind: 'user', id: editor, name, email },
    context: 'rpc',
    event: 'notification notifications.update',
    accepted: true,
    data: { params: { notificationId: id }, body: { active: false }, problem },
  })
}

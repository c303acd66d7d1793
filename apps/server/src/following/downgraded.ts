import { recordAudit } from '../audit-log/index.ts'
import type { App } from '../context.ts'
import { followingChanged } from './events.ts'
import type { Downgraded } from './instance-store.ts'

/**
 * Call after the commit that changed `deploy` to `notify`: log, metrics, open pages and the audit log get it together.
 * The entry names the user who had switched it on, because releases no longer start in their name.
 */
export async function instancesDowngraded(
  app: App,
  { id: deploymentId, teamId }: { id: string; teamId: string },
  downgraded: readonly Downgraded[],
): Promise<void> {
  if (downgraded.length === 0) return
  const people = await app.identity.people(downgraded.map(({ userId }) => userId))
  for (const { instanceId, userId, problem } of downgraded) {
    followingChanged(app, { deploymentId, instanceId, userId, problem }, 'following a tag was changed to notify')
    const { name, email } = people.get(userId) ?? { name: 'Unknown user', email: '' }
    await recordAudit(app, {
      teamId,
      actor: { kind: 'user', id: userId, name, email },
      context: 'rpc',
      event: 'instance deployments.update-instance',
      accepted: true,
      data: { params: { deploymentId, instanceId }, body: { follow: 'notify' }, problem },
    })
  }
}

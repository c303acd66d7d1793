import type { App } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import { loadDeployment } from '../releases/index.ts'
import { dangerProblem, dangerText } from './danger-text.ts'
import { followingChanged } from './events.ts'
import { deployingWith, downgrade, selectDeploying } from './instance-store.ts'

/** Changes `deploy` to `notify` where a changed configuration reaches the node. The start of a release judges it again. */
export async function judgeDangers(app: App, changed: { configId: string } | { deploymentId: string }): Promise<void> {
  for (const { id, teamId } of await deployingWith(app.database.pool, changed)) {
    const found = await inTransaction(app.database, async (queries) => {
      const deployment = await loadDeployment(queries, teamId, id, { lock: true })
      const deploying = new Set(await selectDeploying(queries, id))
      const dangerous = deployment.instances.flatMap((instance) => {
        const danger = deploying.has(instance.id) && dangerText(instance.config)
        return danger ? [{ instanceId: instance.id, danger }] : []
      })
      for (const { instanceId, danger } of dangerous) await downgrade(queries, [instanceId], dangerProblem(danger))
      return dangerous
    })
    for (const one of found)
      followingChanged(app, { deploymentId: id, ...one }, 'following a tag was changed to notify')
  }
}

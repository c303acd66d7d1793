import type { App } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import { loadDeployment } from '../releases/index.ts'
import { dangerProblem, dangerText } from './danger-text.ts'
import { instancesDowngraded } from './downgraded.ts'
import { type Downgraded, deployingWith, downgrade, selectDeploying } from './instance-store.ts'

/** Changes `deploy` to `notify` where a changed configuration reaches the node. The start of a release judges it again. */
export async function judgeDangers(app: App, changed: { configId: string } | { deploymentId: string }): Promise<void> {
  for (const { id, teamId } of await deployingWith(app.database.pool, changed)) {
    const found = await inTransaction(app.database, async (queries) => {
      const deployment = await loadDeployment(queries, teamId, id, { lock: true })
      const deploying = new Set(await selectDeploying(queries, id))
      const downgraded: Downgraded[] = []
      for (const instance of deployment.instances) {
        const danger = deploying.has(instance.id) && dangerText(instance.config, deployment.node)
        if (danger) downgraded.push(...(await downgrade(queries, [instance.id], dangerProblem(danger))))
      }
      return downgraded
    })
    await instancesDowngraded(app, { id, teamId }, found)
  }
}

import type { App } from '../context.ts'
import { countLinkedNodes, countRegistryTypes } from './store.ts'

/** Metrics of the whole installation, read when they are requested; none has a name or an id of a team. */
export function registerGauges({ database, metrics }: Pick<App, 'database' | 'metrics'>): void {
  metrics.gauge({
    name: 'agent_online_count',
    help: 'Nodes whose agent is connected, to any server',
    async collect() {
      this.set(await countLinkedNodes(database.pool))
    },
  })
  metrics.gauge({
    name: 'registry_type_count',
    help: 'Registries by type',
    labelNames: ['type'],
    async collect() {
      const rows = await countRegistryTypes(database.pool)
      this.reset()
      for (const { type, count } of rows) this.set({ type }, count)
    },
  })
}

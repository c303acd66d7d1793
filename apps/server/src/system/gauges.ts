import type { App } from '../context.ts'

/** Metrics of the whole installation, read when they are requested; none has a name or an id of a team. */
export function registerGauges({ database, metrics }: Pick<App, 'database' | 'metrics'>): void {
  metrics.gauge({
    name: 'agent_online_count',
    help: 'Nodes whose agent is connected, to any server',
    async collect() {
      const { rows } = await database.pool.query<{ count: number }>(
        'select count(*)::int as count from crux.node where link_server is not null',
      )
      this.set(rows[0]?.count ?? 0)
    },
  })
  metrics.gauge({
    name: 'registry_type_count',
    help: 'Registries by type',
    labelNames: ['type'],
    async collect() {
      const { rows } = await database.pool.query<{ type: string; count: number }>(
        'select type, count(*)::int as count from crux.registry group by type',
      )
      this.reset()
      for (const { type, count } of rows) this.set({ type }, count)
    },
  })
}

import type { Metrics } from '@crux/service-kit'
import type { App } from '../context.ts'

type Counter = ReturnType<Metrics['counter']>
const counters = new WeakMap<Metrics, Counter>()

/**
 * Logs a business event and counts it. The message is the label of the counter, so it is one of a few fixed texts: ids
 * and names belong into `fields`, which are logged only.
 */
export function recordEvent(app: Pick<App, 'log' | 'metrics'>, fields: object, message: string, label = message): void {
  app.log.info(fields, message)
  getCounter(app.metrics).inc({ event: label })
}

function getCounter(metrics: Metrics): Counter {
  const known = counters.get(metrics)
  if (known) return known
  const made = metrics.counter({
    name: 'business_events_total',
    help: 'What happened in this process: created, changed, deployed, connected',
    labelNames: ['event'],
  })
  counters.set(metrics, made)
  return made
}

import { liveChannels } from '@crux/contract'
import type { Metrics } from '@crux/service-kit'

type Open = { path: string; route: string }

/** Text that a client may choose is no label value, because each text would create another series. */
const declared: ReadonlySet<string> = new Set([
  'subscribe',
  'unsubscribe',
  ...Object.values(liveChannels).flatMap(({ client }) => Object.keys(client)),
])

/**
 * The metrics of the live channel. Labels are types of messages and patterns of paths.
 *
 * @param openPaths the currently subscribed paths, each as often as it is subscribed
 */
export function createLiveMetrics(metrics: Metrics, openPaths: () => Iterable<Open>) {
  const clients = metrics.gauge({ name: 'ws_connected_clients', help: 'Live sockets that are open' })
  const received = metrics.counter({
    name: 'ws_message_type_receive',
    help: 'Live messages received, by type',
    labelNames: ['type'],
  })
  const sent = metrics.counter({
    name: 'ws_message_type_send',
    help: 'Live messages sent, by type',
    labelNames: ['type'],
  })
  metrics.gauge({
    name: 'ws_route_namespaces',
    help: 'Paths with at least one subscriber, by the pattern of the path',
    labelNames: ['path'],
    collect() {
      const paths = new Map<string, Set<string>>(Object.values(liveChannels).map(({ path }) => [path, new Set()]))
      for (const { path, route } of openPaths()) paths.get(route)?.add(path)
      for (const [route, open] of paths) this.set({ path: route }, open.size)
    },
  })
  return {
    connected: (count: number) => clients.set(count),
    received: (type: string) => received.inc({ type: declared.has(type) ? type : 'unknown' }),
    /** Counts our own messages, whose types are those of the contract. */
    sent: (type: string) => sent.inc({ type }),
  }
}

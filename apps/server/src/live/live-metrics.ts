import { liveChannels } from '@crux/contract'
import type { Metrics } from '@crux/service-kit'

type Open = { path: string; route: string }

/** What anybody may write into a frame is no label: there would be as many series as there are texts. */
const declared: ReadonlySet<string> = new Set([
  'subscribe',
  'unsubscribe',
  ...Object.values(liveChannels).flatMap(({ client }) => Object.keys(client)),
])

/**
 * The figures of the live channel by the names of backend.md 2.1. Labels are types of messages and patterns of paths.
 *
 * @param openPaths what sockets are subscribed to in this moment, a path as often as it is
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
    /** Of our own messages: their types are those of the contract. */
    sent: (type: string) => sent.inc({ type }),
  }
}

import { type Database, listen } from '@crux/postgres'
import type { Logger } from '@crux/service-kit'
import type * as schema from '../db/schema/index.ts'
import { type Bus, type BusEvent, type BusEventOf, type BusEventType, rightsEvents } from './bus.ts'

const channel = 'crux_events'
/** The identity service sends the id of a session here, in the transaction that ends it. */
const sessionsChannel = 'crux_sessions'
/** The identity service sends the id of an account here, in the transaction that disables, enables or deletes it. */
const identitiesChannel = 'crux_identities'
/** PostgreSQL accepts 8,000 bytes per notification. Events have only ids and stay far below. */
const bytesMax = 7_000
const retryMs = 500
/** The number of newest events that are kept while they cannot be sent. */
const waitingMax = 10_000

class BusDisconnectedError extends Error {
  override name = 'BusDisconnectedError'
}

const isBusEvent = <T extends BusEventType>(event: BusEvent, type: T): event is BusEvent & BusEventOf<T> =>
  event.type === type

/** The bus over LISTEN/NOTIFY: several processes on one database receive each other's events, and their own. */
export function createPostgresBus(options: { url: string; database: Database<typeof schema>; log: Logger }) {
  const heard = new Map<BusEventType, Set<(event: BusEvent) => void>>()
  const reconnected = new Set<() => void>()

  function deliver(event: BusEvent) {
    for (const run of [...(heard.get(event.type) ?? [])]) {
      try {
        run(event)
      } catch (err) {
        options.log.error({ err, event: event.type }, 'a listener of the bus failed')
      }
    }
  }

  const listener = listen({
    url: options.url,
    channel: [channel, sessionsChannel, identitiesChannel],
    log: options.log,
    onMessage: (payload, from) => deliver(toEvent(payload, from)),
    onReconnect: () => {
      for (const run of [...reconnected]) run()
    },
  })

  const outbox = createOutbox(options)
  const bus: Bus = {
    publish(event) {
      const payload = JSON.stringify(event)
      // Logged as an error, because it is a mistake in our code: subscribers that need more than ids read from the
      // database.
      if (Buffer.byteLength(payload) > bytesMax)
        throw new Error(`the event ${event.type} has more than ${bytesMax} bytes`)
      if (rightsEvents.has(event.type)) deliver(event)
      outbox.add(payload)
    },
    on(type, run) {
      const listeners = heard.get(type) ?? new Set()
      const listener = (event: BusEvent) => {
        if (isBusEvent(event, type)) run(event)
      }
      heard.set(type, listeners.add(listener))
      return () => void listeners.delete(listener)
    },
    onReconnected(run) {
      reconnected.add(run)
      return () => void reconnected.delete(run)
    },
  }
  return {
    bus,
    ready: listener.ready,
    /** @throws while events of other processes do not arrive, or those of this one wait */
    async check() {
      if (!listener.isListening()) throw new BusDisconnectedError('the bus has lost the database')
      if (outbox.isFailing()) throw new BusDisconnectedError('events cannot be sent')
    },
    stop() {
      outbox.stop()
      return listener.stop()
    },
  }
}

/**
 * Sends events one statement at a time, each with all waiting events, so that events of a process arrive in the order in
 * which it published them. Unsent events stay first in the queue: other processes may have had no interruption, and
 * would never read their cached data again.
 */
function createOutbox({ database, log }: { database: Database<typeof schema>; log: Logger }) {
  let waiting: string[] = []
  let sending = false
  let retry: NodeJS.Timeout | undefined

  async function flush() {
    if (sending) return
    sending = true
    clearTimeout(retry)
    retry = undefined
    while (waiting.length > 0 && !retry) {
      const batch = waiting.slice(0, 500)
      try {
        await database.pool.query({
          name: 'bus publish',
          text: 'select pg_notify($1, event) from unnest($2::text[]) with ordinality as t(event, position) order by position',
          values: [channel, batch],
        })
        waiting = waiting.slice(batch.length)
      } catch (err) {
        log.error({ err, events: waiting.length }, 'events could not be sent, they are sent again')
        waiting = waiting.slice(-waitingMax)
        retry = setTimeout(() => void flush(), retryMs)
        retry.unref()
      }
    }
    sending = false
  }

  return {
    add(event: string) {
      waiting.push(event)
      // While the database is unavailable, an occasional attempt is enough.
      if (!retry) void flush()
    },
    isFailing: () => retry !== undefined,
    stop: () => clearTimeout(retry),
  }
}

function toEvent(payload: string, from: string): BusEvent {
  if (from === sessionsChannel) return { type: 'session.ended', sessionId: payload }
  if (from === identitiesChannel) return { type: 'identity.changed', userId: payload }
  return JSON.parse(payload)
}

import type { Logger } from '@crux/service-kit'
import { Client, escapeIdentifier, type Notification } from 'pg'

export interface Listener {
  /** Resolves after the first LISTEN. */
  ready: Promise<void>
  /** Whether LISTEN is currently active. */
  isListening(): boolean
  stop(): Promise<void>
}

/**
 * Receives the notifications of one or more channels on a connection of its own, indefinitely. After a lost connection is reopened, `onReconnect`
 * reports that notifications may have been missed, so that subscribers reload their state.
 */
export function listen(options: {
  url: string
  channel: string | readonly string[]
  onMessage: (payload: string, channel: string) => void
  onReconnect?: () => void
  log: Logger
}): Listener {
  const channels = typeof options.channel === 'string' ? [options.channel] : options.channel
  const { promise: ready, resolve: becomeReady } = Promise.withResolvers<void>()
  let client: Client | undefined
  let retry: NodeJS.Timeout | undefined
  let pulse: NodeJS.Timeout | undefined
  let attempts = 0
  let connectedBefore = false
  let listening = false
  let stopped = false

  const guard = (what: string, run: () => void) => guarded(options.log, channels, what, run)

  async function connect(): Promise<void> {
    const mine = createClient(options.url)
    client = mine
    mine.on('error', (err) => {
      options.log.debug({ err, channels }, 'the listening connection failed')
      lost(mine)
    })
    mine.on('end', () => lost(mine))
    mine.on('notification', ({ payload, channel }: Notification) =>
      guard('receiver', () => options.onMessage(payload ?? '', channel)),
    )
    try {
      await mine.connect()
      for (const channel of channels) await mine.query(`listen ${escapeIdentifier(channel)}`)
    } catch (err) {
      options.log.debug({ err, channels }, 'cannot listen')
      lost(mine)
      return
    }
    if (client !== mine || stopped) return
    attempts = 0
    listening = true
    // A peer that vanished without closing the connection is detected by a query.
    pulse = setInterval(() => void mine.query('select 1').catch(() => lost(mine)), 30_000)
    pulse.unref()
    if (connectedBefore) {
      options.log.info({ channels }, 'listening again')
      guard('re-reader', () => options.onReconnect?.())
    }
    connectedBefore = true
    becomeReady()
  }

  function lost(which: Client) {
    if (client !== which) return
    client = undefined
    listening = false
    clearInterval(pulse)
    void which.end().catch(() => undefined)
    if (stopped) return
    if (attempts === 0) options.log.warn({ channels }, 'the listening connection is lost, reconnecting')
    const delayMs = Math.min(2_000, 50 * 2 ** attempts++)
    retry = setTimeout(() => void connect(), delayMs)
  }

  void connect()
  return {
    ready,
    isListening: () => listening,
    async stop() {
      stopped = true
      clearTimeout(retry)
      clearInterval(pulse)
      const last = client
      client = undefined
      await last?.end().catch(() => undefined)
    },
  }
}

const createClient = (url: string) =>
  new Client({
    connectionString: url,
    application_name: 'crux listen',
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
  })

/** An error of a receiver must not end the connection. */
function guarded(log: Logger, channels: readonly string[], what: string, run: () => void): void {
  try {
    run()
  } catch (err) {
    log.error({ err, channels }, `the ${what} of a notification failed`)
  }
}

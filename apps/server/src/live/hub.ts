import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import { CruxError, closeCodes } from '@crux/contract'
import type { WebSocket } from 'ws'
import type { Actor, AuthServices, TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import { type HostCheck, toCruxError } from '../http/index.ts'
import type { Credentials } from '../identity/index.ts'
import { matchChannel } from './channel-paths.ts'
import { createEditors } from './editors.ts'
import { type Frame, readFrame, writeError, writeFrame } from './frames.ts'
import type { ChannelHandlers } from './handlers.ts'
import { createLiveMetrics } from './live-metrics.ts'
import { LiveSocket } from './live-socket.ts'
import { createMessages, mayUse } from './messages.ts'
import { createSubscription, type Subscription } from './subscription.ts'
import { acceptUpgrades } from './upgrade.ts'

/**
 * Rights are checked again at this interval; changes that the bus reports count at once. Sessions and memberships may
 * be cached for 2 s besides: together less than the 5 s after which a lost right must have no effect.
 */
const sweepMs = 2_500
const pingMs = 30_000
/** setTimeout does not accept a longer time. */
const timerMaxMs = 2_147_483_647
const subscriptionsMax = 200
/** The number of messages of one socket that may wait; beyond it the server reads no more. */
const pendingMax = 64

export type LiveHub = { attach(server: Server): void; stop(): void }
type Connection = {
  socket: LiveSocket
  subscriptions: Map<string, Subscription>
  /** Paths whose right is being checked, each with the request that asked for it last. */
  asked: Map<string, symbol>
  pending: number
  expiry?: NodeJS.Timeout
}

/** The live channel: one socket for many paths; each message is authorised separately. */
export function createLiveHub(
  app: App,
  parts: AuthServices & { channels: ChannelHandlers; origins: () => ReadonlySet<string>; hosts: HostCheck },
): LiveHub {
  const connections = new Set<Connection>()
  const editors = createEditors(app)
  const messages = createMessages(app, { ...parts, editors })
  const metrics = createLiveMetrics(app.metrics, function* () {
    for (const { subscriptions } of connections)
      for (const [path, { match }] of subscriptions) yield { path, route: match.spec.path }
  })

  function open(ws: WebSocket, actor: Actor, credentials: Credentials) {
    const connection: Connection = {
      socket: new LiveSocket(ws, actor, credentials, { log: app.log, sent: metrics.sent }),
      subscriptions: new Map(),
      asked: new Map(),
      pending: 0,
    }
    connections.add(connection)
    if (connections.size === 1) watchConnections()
    metrics.connected(connections.size)
    expireLater(connection)
    ws.on('pong', () => {
      connection.socket.alive = true
    })
    ws.on('error', () => ws.terminate())
    ws.on('close', () => forget(connection))
    ws.on('message', (data, isBinary) => {
      const frame = isBinary ? undefined : readFrame(String(data))
      if (!frame) return
      metrics.received(frame.type.slice(frame.type.lastIndexOf('/') + 1))
      receive(connection, frame)
    })
  }

  function receive(connection: Connection, frame: Frame) {
    const { socket } = connection
    if (socket.gone) return
    if (++connection.pending >= pendingMax) socket.ws.pause()
    void handle(connection, frame)
      .catch((error: unknown) => socket.send('error', writeError(reported(error))))
      .finally(() => {
        if (--connection.pending < pendingMax && socket.ws.isPaused) socket.ws.resume()
      })
  }

  async function handle(connection: Connection, frame: Frame): Promise<void> {
    if (frame.type === 'subscribe' || frame.type === 'unsubscribe') {
      const path = pathOf(frame.data)
      if (path === undefined) throw new CruxError('invalidArgument', { property: 'path' })
      return frame.type === 'subscribe' ? subscribe(connection, path) : unsubscribe(connection, path)
    }
    const cut = frame.type.lastIndexOf('/')
    const subscription = connection.subscriptions.get(frame.type.slice(0, cut))
    // Messages for a path without a subscription are ignored.
    if (!subscription) return
    const outcome = await messages.run(connection.socket, subscription, { ...frame, type: frame.type.slice(cut + 1) })
    if (outcome === 'session-ended') end(connection)
    if (outcome === 'not-in-team') drop(connection, subscription.subscriber.path, new CruxError('forbidden'))
  }

  async function subscribe(connection: Connection, path: string): Promise<void> {
    const { socket, subscriptions, asked } = connection
    if (subscriptions.has(path) || asked.has(path)) return
    const match = matchChannel(path)
    if (!match)
      return socket.send(
        'error',
        writeError(new CruxError('notFound', { property: 'path', value: path.slice(0, 500) }), path),
      )
    if (subscriptions.size + asked.size >= subscriptionsMax)
      throw new CruxError('tooManyRequests', { property: 'path' })
    const mine = Symbol(path)
    asked.set(path, mine)
    // The subscription was cancelled, and perhaps requested again, before it was open; then this result is not needed.
    const isWanted = () => asked.get(path) === mine
    let team: TeamContext | undefined
    try {
      const actor = await currentActor(socket)
      if (!actor) return end(connection)
      const found = await parts.membership.find(actor, { by: 'slug', value: match.params.teamSlug ?? '' })
      if (found && mayUse(actor, found, match.spec.permission)) team = found
      if (socket.gone || !isWanted()) return
    } finally {
      if (isWanted()) asked.delete(path)
    }
    if (!team) return refuse(socket, path, new CruxError('forbidden'))
    const subscription = createSubscription(socket, randomUUID(), path, match, { ...team })
    subscriptions.set(path, subscription)
    // Messages that arrive in the meantime wait for it.
    subscription.tail = messages.open(subscription).then(
      () => {
        if (subscription.subscriber.left) return
        socket.send('subbed', writeFrame('subbed', { path }))
        subscription.opened()
      },
      (error: unknown) => {
        if (subscription.subscriber.left) return
        if (subscriptions.get(path) === subscription) subscriptions.delete(path)
        subscription.leave()
        refuse(socket, path, reported(error))
      },
    )
    await subscription.tail
  }

  async function unsubscribe({ socket, subscriptions, asked }: Connection, path: string): Promise<void> {
    asked.delete(path)
    const subscription = subscriptions.get(path)
    subscriptions.delete(path)
    subscription?.leave()
    socket.send('unsubbed', writeFrame('unsubbed', { path }))
  }

  function refuse(socket: LiveSocket, path: string, error: CruxError) {
    const { status, code, message: description } = error
    socket.send('sub-failed', writeFrame('sub-failed', { path, status, error: code, description }))
  }

  /** Ends the subscription of a user who lost the right to the path. */
  function drop(connection: Connection, path: string, error: CruxError) {
    const subscription = connection.subscriptions.get(path)
    if (!subscription) return
    connection.subscriptions.delete(path)
    subscription.leave()
    refuse(connection.socket, path, error)
  }

  function end(connection: Connection) {
    for (const subscription of connection.subscriptions.values()) subscription.leave()
    connection.socket.close(closeCodes.sessionEnded, 'Expired')
  }

  function forget(connection: Connection) {
    clearTimeout(connection.expiry)
    connections.delete(connection)
    if (connections.size === 0) unwatchConnections()
    metrics.connected(connections.size)
    connection.socket.left()
    for (const subscription of connection.subscriptions.values()) subscription.leave()
    connection.subscriptions.clear()
  }

  function expireLater(connection: Connection) {
    clearTimeout(connection.expiry)
    const leftMs = connection.socket.actor.sessionExpiresAt.getTime() - Date.now()
    connection.expiry = setTimeout(
      () => (leftMs > timerMaxMs ? expireLater(connection) : end(connection)),
      Math.min(Math.max(0, leftMs), timerMaxMs),
    )
    connection.expiry.unref()
  }

  /** The current session; a person with a valid session keeps the socket while the identity service is unavailable. */
  async function currentActor(socket: LiveSocket): Promise<Actor | undefined> {
    const actor = await parts.authentication.actor(socket.credentials)
    if (actor) socket.actor = actor
    return actor
  }

  async function sweep(some: (connection: Connection) => boolean = () => true): Promise<void> {
    for (const connection of [...connections].filter(some)) {
      try {
        const actor = await currentActor(connection.socket)
        if (!actor) {
          end(connection)
          continue
        }
        expireLater(connection)
        for (const [path, { team, match, setRole }] of [...connection.subscriptions]) {
          const now = await parts.membership.find(actor, { by: 'id', value: team.id })
          if (!now || !mayUse(actor, now, match.spec.permission)) drop(connection, path, new CruxError('forbidden'))
          else setRole(now.role)
        }
      } catch (err) {
        app.log.debug({ err }, 'a live socket could not be checked now')
      }
    }
  }

  function reported(error: unknown): CruxError {
    const known = toCruxError(error)
    if (known.status >= 500) app.log.error({ err: known.cause ?? known }, 'a live message failed')
    return known
  }

  const unsubscribes = [
    app.bus.on('session.ended', ({ sessionId }) => {
      for (const connection of connections) if (connection.socket.actor.sessionId === sessionId) end(connection)
    }),
    app.bus.on('tokens.revoked', ({ tokenIds }) => {
      for (const connection of connections)
        if (tokenIds.includes(connection.socket.actor.grant?.id ?? '')) end(connection)
    }),
    app.bus.on('identity.changed', ({ userId }) => void sweep(({ socket }) => socket.actor.id === userId)),
    app.bus.on('member.changed', ({ userId }) => void sweep(({ socket }) => socket.actor.id === userId)),
    // The team may require more of its members now.
    app.bus.on(
      'team.changed',
      ({ teamId }) =>
        void sweep(({ subscriptions }) => [...subscriptions.values()].some(({ team }) => team.id === teamId)),
    ),
    app.bus.onReconnected(() => void sweep()),
  ]
  let sweeping = false
  let sweeper: NodeJS.Timeout | undefined
  let pinger: NodeJS.Timeout | undefined

  /** The check runs only while a client is connected, so that an idle server does not wake up for it. */
  function watchConnections() {
    sweeper = setInterval(() => {
      if (sweeping) return
      sweeping = true
      void sweep().finally(() => {
        sweeping = false
      })
    }, sweepMs)
    pinger = setInterval(() => {
      for (const { socket } of connections) {
        if (!socket.alive) socket.ws.terminate()
        socket.alive = false
        if (socket.ws.readyState === socket.ws.OPEN) socket.ws.ping()
      }
    }, pingMs)
  }

  function unwatchConnections() {
    clearInterval(sweeper)
    clearInterval(pinger)
  }

  return {
    attach: (server) => acceptUpgrades(server, app, { ...parts, opened: open }),
    stop() {
      unwatchConnections()
      for (const unsubscribe of unsubscribes) unsubscribe()
      editors.stop()
      for (const connection of [...connections]) {
        for (const subscription of connection.subscriptions.values()) subscription.leave()
        connection.socket.close(closeCodes.goingAway, 'the server stops')
      }
    },
  }
}

function pathOf(data: unknown): string | undefined {
  const path = typeof data === 'object' && data !== null && 'path' in data ? data.path : undefined
  return typeof path === 'string' && path.startsWith('/') && path.length <= 1_024 ? path : undefined
}

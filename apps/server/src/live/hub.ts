import type { Server } from 'node:http'
import { closeCodes } from '@crux/contract'
import type { WebSocket } from 'ws'
import type { Actor, AuthServices } from '../access/index.ts'
import type { App } from '../context.ts'
import type { HostCheck } from '../http/index.ts'
import type { Credentials } from '../identity/index.ts'
import { Connection } from './connection.ts'
import { createEditors } from './editors.ts'
import { readFrame } from './frames.ts'
import type { ChannelHandlers } from './handlers.ts'
import { createLiveMetrics } from './live-metrics.ts'
import { LiveSocket } from './live-socket.ts'
import { createMessages } from './messages.ts'
import { acceptUpgrades } from './upgrade.ts'

/**
 * Rights are checked again at this interval; changes that the bus reports count at once. Sessions and memberships may
 * be cached for 2 s besides: together less than the 5 s after which a lost right must have no effect.
 */
const sweepMs = 2_500
const pingMs = 30_000

export type LiveHub = { attach(server: Server): void; stop(): void }

/** The live channel: one socket for many paths; each message is authorised separately. */
export function createLiveHub(
  app: App,
  parts: AuthServices & { channels: ChannelHandlers; origins: () => ReadonlySet<string>; hosts: HostCheck },
): LiveHub {
  const connections = new Set<Connection>()
  const editors = createEditors(app)
  const shared = { ...parts, messages: createMessages(app, { ...parts, editors }), log: app.log }
  const metrics = createLiveMetrics(app.metrics, function* () {
    for (const { subscriptions } of connections)
      for (const [path, { match }] of subscriptions) yield { path, route: match.spec.path }
  })
  const timers = createTimers(connections)
  const unsubscribes = endLostRights(app, connections)

  function open(ws: WebSocket, actor: Actor, credentials: Credentials) {
    const socket = new LiveSocket(ws, actor, credentials, { log: app.log, sent: metrics.sent })
    const connection = new Connection(socket, shared)
    connections.add(connection)
    if (connections.size === 1) timers.start()
    metrics.connected(connections.size)
    ws.on('pong', () => {
      socket.alive = true
    })
    ws.on('error', () => ws.terminate())
    ws.on('close', () => {
      connections.delete(connection)
      if (connections.size === 0) timers.stop()
      metrics.connected(connections.size)
      connection.closed()
    })
    ws.on('message', (data, isBinary) => {
      const frame = isBinary ? undefined : readFrame(String(data))
      if (!frame) return
      metrics.received(frame.type.slice(frame.type.lastIndexOf('/') + 1))
      connection.receive(frame)
    })
  }

  return {
    attach: (server) => acceptUpgrades(server, app, { ...parts, opened: open }),
    stop() {
      timers.stop()
      for (const unsubscribe of unsubscribes) unsubscribe()
      editors.stop()
      for (const connection of [...connections]) connection.close(closeCodes.goingAway, 'the server stops')
    },
  }
}

async function checkAll(connections: Iterable<Connection>): Promise<void> {
  for (const connection of [...connections]) await connection.check()
}

/** Checks and pings run only while a client is connected, so that an idle server does not wake up for them. */
function createTimers(connections: ReadonlySet<Connection>) {
  let checking = false
  let timers: NodeJS.Timeout[] = []

  function check() {
    if (checking) return
    checking = true
    void checkAll(connections).finally(() => {
      checking = false
    })
  }

  function ping() {
    for (const { socket } of connections) {
      if (!socket.alive) socket.ws.terminate()
      socket.alive = false
      if (socket.ws.readyState === socket.ws.OPEN) socket.ws.ping()
    }
  }

  return {
    start() {
      timers = [setInterval(check, sweepMs), setInterval(ping, pingMs)]
    },
    stop() {
      for (const timer of timers) clearInterval(timer)
    },
  }
}

/** Changes of sessions, tokens and memberships count at once. @returns the functions that unsubscribe */
function endLostRights({ bus }: App, connections: ReadonlySet<Connection>): (() => void)[] {
  const endThose = (isMeant: (actor: Actor) => boolean) => {
    for (const connection of connections) if (isMeant(connection.socket.actor)) connection.end()
  }
  const checkThose = (isMeant: (connection: Connection) => boolean) => void checkAll([...connections].filter(isMeant))
  const checkUser = ({ userId }: { userId: string }) => checkThose(({ socket }) => socket.actor.id === userId)
  return [
    bus.on('session.ended', ({ sessionId }) => endThose((actor) => actor.sessionId === sessionId)),
    bus.on('tokens.revoked', ({ tokenIds }) => endThose(({ grant }) => tokenIds.includes(grant?.id ?? ''))),
    bus.on('identity.changed', checkUser),
    bus.on('member.changed', checkUser),
    // The team may require more of its members now.
    bus.on('team.changed', ({ teamId }) =>
      checkThose(({ subscriptions }) => [...subscriptions.values()].some(({ team }) => team.id === teamId)),
    ),
    bus.onReconnected(() => checkThose(() => true)),
  ]
}

import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocket, WebSocketServer } from 'ws'
import type { App } from '../context.ts'
import type { Actor } from '../http/handlers.ts'
import { isForeign } from '../http/origins.ts'
import type { Credentials } from '../identity/identity.ts'

/** A message of a client is a command with a few fields, or a configuration. */
const messageBytesMax = 1_048_576
const statusTexts = { 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 503: 'Service Unavailable' } as const

/** Lets sockets in: any path under /api, from our own pages or from no page, by whoever is signed in. */
export function acceptUpgrades(
  server: Server,
  app: App,
  options: {
    origins: () => ReadonlySet<string>
    opened: (ws: WebSocket, actor: Actor, credentials: Credentials) => void
  },
): void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: messageBytesMax,
    perMessageDeflate: false,
    WebSocket,
  })

  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const drop = () => socket.destroy()
    socket.on('error', drop)
    void judge(request).then((verdict) => {
      if (socket.destroyed) return
      if (typeof verdict === 'number') return refuse(socket, verdict)
      socket.removeListener('error', drop)
      sockets.handleUpgrade(request, socket, head, (ws) => options.opened(ws, verdict.actor, verdict.credentials))
    })
  })

  async function judge(request: IncomingMessage) {
    const path = request.url?.split('?')[0] ?? ''
    if (path !== '/api' && !path.startsWith('/api/')) return 404
    if (isForeign(request.headers, options.origins())) return 403
    const { cookie, authorization } = request.headers
    const credentials = { cookie, authorization }
    try {
      const actor = await app.identity.session(credentials)
      return actor ? { actor, credentials } : 401
    } catch {
      return 503
    }
  }
}

function refuse(socket: Duplex, status: keyof typeof statusTexts) {
  socket.end(`HTTP/1.1 ${status} ${statusTexts[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
}

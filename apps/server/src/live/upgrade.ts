import type { IncomingMessage, Server } from 'node:http'
import type { Duplex } from 'node:stream'
import proxyAddress from '@fastify/proxy-addr'
import { WebSocket, WebSocketServer } from 'ws'
import { type Actor, type AuthServices, isForeign } from '../access/index.ts'
import type { App } from '../context.ts'
import { type HostCheck, toCruxError } from '../http/index.ts'
import type { Credentials } from '../identity/index.ts'

/** A message of a client is a command with a few fields, or a configuration. */
const messageBytesMax = 1_048_576
const statusTexts = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  421: 'Misdirected Request',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
} as const
type Refusal = { status: keyof typeof statusTexts; retryAfterS?: number | undefined }

/** Accepts sockets on every path under /api, from our own pages or clients without a page, of authenticated users. */
export function acceptUpgrades(
  server: Server,
  app: App,
  options: Pick<AuthServices, 'authentication' | 'failedChecks'> & {
    origins: () => ReadonlySet<string>
    hosts: HostCheck
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
      if ('status' in verdict) return refuse(socket, verdict)
      socket.removeListener('error', drop)
      sockets.handleUpgrade(request, socket, head, (ws) => options.opened(ws, verdict.actor, verdict.credentials))
    })
  })

  const trusted = proxyAddress.compile([...app.config.trustedProxies])

  type Verdict = Refusal | { actor: Actor; credentials: Credentials }
  async function judge(request: IncomingMessage): Promise<Verdict> {
    const path = request.url?.split('?')[0] ?? ''
    try {
      options.hosts.assertOwnHost(request)
    } catch {
      return { status: 421 }
    }
    if (path !== '/api' && !path.startsWith('/api/')) return { status: 404 }
    if (isForeign(request.headers, options.origins())) return { status: 403 }
    const { cookie, authorization } = request.headers
    const credentials = { cookie, authorization }
    try {
      const actor = await options.authentication.actor(credentials)
      if (actor) return actor.kind === 'deployment-token' ? { status: 403 } : { actor, credentials }
      if (authorization !== undefined) await options.failedChecks.count(proxyAddress(request, trusted))
      return { status: 401 }
    } catch (error) {
      const { code, retryAfterS } = toCruxError(error)
      return code === 'tooManyRequests' ? { status: 429, retryAfterS } : { status: 503 }
    }
  }
}

function refuse(socket: Duplex, { status, retryAfterS }: Refusal) {
  const retry = retryAfterS === undefined ? '' : `Retry-After: ${Math.max(1, Math.ceil(retryAfterS))}\r\n`
  socket.end(`HTTP/1.1 ${status} ${statusTexts[status]}\r\n${retry}Connection: close\r\nContent-Length: 0\r\n\r\n`)
}

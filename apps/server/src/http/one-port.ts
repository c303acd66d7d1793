import { createServer as createHttp, type RequestListener, type Server } from 'node:http'
import {
  constants,
  createServer as createHttp2,
  type Http2SecureServer,
  type Http2Server,
  type Http2ServerRequest,
  type ServerHttp2Session,
} from 'node:http2'
import { createServer as createHttps, type Server as HttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'

/** How long a connection may take until its protocol is known. */
const sniffMs = 10_000
/** How long a request may take to arrive. */
const requestMs = 60_000
/** The first bytes of the HTTP/2 connection preface (RFC 9113, 3.4); no HTTP/1.1 method begins with them. */
const preface = Buffer.from('PRI')

/**
 * Bytes that an agent may send before the server acknowledges: with the default of 64 kB a followed log mostly waits
 * for acknowledgements.
 */
const streamWindow = 1_048_576
const sessionWindow = 4 * streamWindow

type Http2Handler = Parameters<typeof createHttp2>[1]

export type OnePort = {
  /** The server listens, closes and upgrades like an HTTP/1.1 server. */
  server: Server | HttpsServer
  http2: Http2Server | Http2SecureServer
  /**
   * Ends connections that have sent nothing, and sends GOAWAY to HTTP/2 sessions: their open requests may finish, and
   * no new ones start.
   */
  closeSessions(): void
  /** Destroys all connections that are still open. */
  destroy(): void
}

/**
 * One server for HTTP/1.1 and HTTP/2: with TLS it chooses by ALPN, in plain text by the preface.
 *
 * @param options.http1 receives HTTP/1.1; upgrades arrive as `upgrade` on the server
 * @param options.http2 receives HTTP/2
 */
export function createOnePort(options: {
  http1: RequestListener
  http2: NonNullable<Http2Handler>
  tls: { cert: string; key: string } | undefined
}): OnePort {
  const sockets = new Set<Socket>()
  /** Connections that have sent nothing yet: closing them loses no request. */
  const silent = new Set<Socket>()
  const sessions = new Set<ServerHttp2Session>()
  const http2: Http2Server | Http2SecureServer = createHttp2(
    { settings: { maxConcurrentStreams: 1_000, initialWindowSize: streamWindow } },
    options.http2,
  )
  http2.on('session', (session: ServerHttp2Session) => {
    sessions.add(session)
    session.setLocalWindowSize(sessionWindow)
    session.on('close', () => sessions.delete(session))
    session.on('error', () => session.destroy())
  })
  http2.on('sessionError', () => undefined)

  const server: Server | HttpsServer = options.tls
    ? createHttps({ cert: options.tls.cert, key: options.tls.key, ALPNProtocols: ['h2', 'http/1.1'] }, options.http1)
    : createHttp(options.http1)
  // The timeout is longer than that of a proxy in front, which must not use a connection that the server just closed.
  server.keepAliveTimeout = 75_000
  server.requestTimeout = requestMs
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n')
    else socket.destroy()
  })

  const event = options.tls ? 'secureConnection' : 'connection'
  const [asHttp1] = server.listeners(event)
  if (!asHttp1) throw new Error('the server has no listener for connections')
  server.removeAllListeners(event)
  const serve = (socket: Socket, isHttp2: boolean) => {
    if (isHttp2) {
      // An HTTP/1.1 server answers a client that closed its half of the connection. An HTTP/2 session would stay open
      // forever.
      socket.allowHalfOpen = false
      http2.emit('connection', socket)
    } else asHttp1.call(server, socket)
  }
  server.on(event, (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    if (socket instanceof TLSSocket) serve(socket, socket.alpnProtocol === 'h2')
    else {
      silent.add(socket)
      socket.once('close', () => silent.delete(socket))
      sniff(socket, (isHttp2) => {
        silent.delete(socket)
        serve(socket, isHttp2)
      })
    }
  })

  return {
    server,
    http2,
    closeSessions() {
      for (const socket of silent) socket.destroy()
      for (const session of sessions) session.close()
    },
    destroy() {
      for (const session of sessions) session.destroy()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** HTTP/2 has no such limit of its own: an incomplete request would stay in memory as long as its connection. */
export function limitArrival({ stream }: Http2ServerRequest, limitMs = requestMs): void {
  if (stream.endAfterHeaders) return
  const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), limitMs)
  const arrived = () => clearTimeout(timer)
  stream.once('end', arrived)
  stream.once('close', arrived)
}

/** Reads until three bytes have arrived or one differs, then puts them back. */
function sniff(socket: Socket, decided: (isHttp2: boolean) => void): void {
  let seen = Buffer.alloc(0)
  const timer = setTimeout(() => socket.destroy(), sniffMs)
  const stop = () => clearTimeout(timer)
  const fail = () => socket.destroy()
  socket.once('close', stop)
  socket.on('error', fail)

  function read() {
    const chunk: Buffer | null = socket.read()
    if (chunk) seen = Buffer.concat([seen, chunk])
    const length = Math.min(seen.length, preface.length)
    const same = seen.subarray(0, length).equals(preface.subarray(0, length))
    if (seen.length === 0 || (same && length < preface.length)) {
      socket.once('readable', read)
      return
    }
    stop()
    socket.removeListener('close', stop)
    socket.removeListener('error', fail)
    socket.unshift(seen)
    decided(same)
  }
  socket.once('readable', read)
}

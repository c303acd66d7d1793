import type { Http2SecureServer, Http2Server, ServerHttp2Session } from 'node:http2'

/** Together a peer that disappeared silently is detected after at most 30 s. A live agent pings by itself every 20 s. */
const quietMs = 21_000
const answerMs = 7_000

/**
 * Pings sessions that have sent nothing for a while, and ends those that do not answer. Idle links cause no traffic
 * from the server.
 */
export function keepSessionsAlive(server: Http2Server | Http2SecureServer): void {
  server.on('session', (session: ServerHttp2Session) => {
    let bytesSeen = -1
    const timer = setInterval(() => {
      const { socket } = session
      if (session.destroyed || !socket) return
      if (socket.bytesRead !== bytesSeen) {
        bytesSeen = socket.bytesRead
        return
      }
      const unanswered = setTimeout(() => session.destroy(), answerMs)
      const asked = session.ping((error) => {
        clearTimeout(unanswered)
        if (error) session.destroy()
      })
      if (!asked) clearTimeout(unanswered)
    }, quietMs)
    timer.unref()
    session.once('close', () => clearInterval(timer))
  })
}

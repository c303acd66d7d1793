import type { Http2SecureServer, Http2Server, ServerHttp2Session } from 'node:http2'

/** Together at most 30 s until a peer that vanished without a word is noticed. A live agent pings by itself every 20 s. */
const quietMs = 21_000
const answerMs = 7_000

/** Pings sessions from which nothing came for a while, and ends those that do not answer: idle links cost no traffic of ours. */
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

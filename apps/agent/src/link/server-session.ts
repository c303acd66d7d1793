import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type ClientSessionRequestOptions,
  connect,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { Code, ConnectError } from '@connectrpc/connect'
import { guarded } from '@crux/service-kit'
import { guardedTimer } from '../concurrency/pause.ts'

export interface ServerSession {
  authority: string
  request(
    method: string,
    path: string,
    headers: OutgoingHttpHeaders,
    options: Omit<ClientSessionRequestOptions, 'signal'>,
  ): Promise<ClientHttp2Stream>
  notifyResponseByteRead(stream: ClientHttp2Stream): void
  /** Drops the connection with all its calls; the next call opens a new one. */
  abort(): void
}

const connectTimeoutMs = 10_000

/**
 * One HTTP/2 connection, opened when a call needs it. A ping that stays unanswered ends it, so a dead link is detected within the sum of
 * both times. connect-node has such a manager too, but its ping timer outlives a connection that ends with calls in progress, and then
 * throws where no caller can catch it.
 */
export function createServerSession(
  authority: string,
  times: { pingEveryMs: number; pingTimeoutMs: number },
): ServerSession {
  let current: Promise<ClientHttp2Session> | undefined

  function open(): Promise<ClientHttp2Session> {
    if (current) return current
    const opening = openSession(authority, times, () => {
      if (current === opening) current = undefined
    })
    current = opening
    return opening
  }

  return {
    authority,
    async request(method, path, headers, options) {
      const session = await open()
      try {
        return session.request({ ...headers, ':method': method, ':path': path }, options)
      } catch (error) {
        // The connection ended between the two lines; the caller's next attempt opens another.
        throw new ConnectError('the connection ended', Code.Unavailable, undefined, undefined, error)
      }
    },
    notifyResponseByteRead: () => undefined,
    abort() {
      const ending = current
      current = undefined
      ending?.then(
        // Without an error the streams of calls in progress would close as if they had succeeded, and the calls would wait indefinitely.
        (session) => session.destroy(new Error('the connection was dropped')),
        () => undefined,
      )
    },
  }
}

function openSession(
  authority: string,
  times: { pingEveryMs: number; pingTimeoutMs: number },
  onEnd: () => void,
): Promise<ClientHttp2Session> {
  return new Promise((resolve, reject) => {
    // Set here and not left to the environment: NODE_TLS_REJECT_UNAUTHORIZED=0 would send the token to any host on the way.
    const session = connect(authority, { rejectUnauthorized: true })
    const on = <A extends unknown[]>(event: string, listener: (...args: A) => void) =>
      session.on(event, guarded('the connection to the server', listener))
    const destroyAfter = (ms: number, reason: string) =>
      guardedTimer('the connection to the server', ms, () => session.destroy(new Error(reason)))
    let timer = destroyAfter(connectTimeoutMs, 'no connection in time')
    const ping = guarded('the ping to the server', () => {
      if (session.destroyed || session.closed) return
      timer = destroyAfter(times.pingTimeoutMs, 'the server does not answer')
      session.ping(
        guarded('the ping to the server', (error: Error | null) => {
          clearTimeout(timer)
          if (!error && !session.destroyed) timer = setTimeout(ping, times.pingEveryMs)
        }),
      )
    })
    on('connect', () => {
      clearTimeout(timer)
      timer = setTimeout(ping, times.pingEveryMs)
      resolve(session)
    })
    on('goaway', () => {
      onEnd()
      session.close()
    })
    // Calls in progress fail through their streams; without a listener the error would end the process.
    on('error', (error: Error) =>
      reject(new ConnectError(error.message, Code.Unavailable, undefined, undefined, error)),
    )
    on('close', () => {
      clearTimeout(timer)
      onEnd()
      reject(new ConnectError('the connection ended', Code.Unavailable))
    })
  })
}

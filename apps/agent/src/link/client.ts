import { type Client, createClient, type Interceptor } from '@connectrpc/connect'
import { createGrpcTransport } from '@connectrpc/connect-node'
import { AgentService } from '@crux/agent-protocol'

import { createServerSession } from './server-session.ts'

export type AgentClient = Client<typeof AgentService>

export interface ServerConnection {
  /** @param token the bearer token of every call of this client */
  clientFor(token: () => string): AgentClient
  /** Drops the connection, so that the next call opens a new one. */
  reset(): void
}

/**
 * One HTTP/2 connection to the server. A ping every 20 s that stays unanswered for 8 s ends it, so a dead link is detected within half a
 * minute for about a byte per second.
 */
export function connectTo(server: string): ServerConnection {
  const sessionManager = createServerSession(server, { pingEveryMs: 20_000, pingTimeoutMs: 8_000 })
  return {
    clientFor: (token) =>
      createClient(
        AgentService,
        createGrpcTransport({ baseUrl: server, sessionManager, interceptors: [bearer(token)], acceptCompression: [] }),
      ),
    reset: () => sessionManager.abort(),
  }
}

function bearer(token: () => string): Interceptor {
  return (next) => (request) => {
    request.header.set('authorization', `Bearer ${token()}`)
    return next(request)
  }
}

import { Code, ConnectError } from '@connectrpc/connect'
import type { AgentInfo } from '@crux/agent-protocol'
import type { Logger } from '@crux/service-kit'
import type { AgentClient } from './client.ts'
import type { StoredToken, TokenStore } from './token-store.ts'

/**
 * The token that the agent sends. A stored token takes precedence over the configured one (by CRUX_TOKEN or the install script's file)
 * while it is for the same server and node; the configured one is its fallback. Without either there is no connection.
 */
export interface Credentials {
  /** Prepares a token for Connect: exchanges an install token, confirms a rotated one. */
  prepare(info: AgentInfo): Promise<void>
  token(): string
  /** The node that the token is for; empty while only the server knows it. */
  nodeId(): string
  /** Called when the server accepted the token. */
  accepted(): Promise<void>
  /** Called when the server refused the token. False: there is no other token, and none is left stored. */
  refused(): Promise<boolean>
  rotate(token: string): Promise<void>
  forget(): Promise<void>
}

/**
 * `install`: to be exchanged. `direct`: the same text tried as a connection token, because a token does not show its kind and the
 * environment may contain a connection token too.
 */
type State =
  | { kind: 'stored'; stored: StoredToken }
  | { kind: 'install'; token: string }
  | { kind: 'direct'; token: string }

export class NoTokenError extends Error {
  override name = 'NoTokenError'
}

export async function openCredentials(options: {
  store: TokenStore
  server: string
  nodeId: string
  installToken: string | undefined
  /** Called when the configured token was exchanged or will never be needed: its file may be deleted. */
  installTokenUsed: () => Promise<void>
  clientFor: (token: () => string) => AgentClient
  log: Logger
}): Promise<Credentials> {
  const { store, server, nodeId, installToken, installTokenUsed, clientFor, log } = options
  let fallback = installToken
  let state = await initialState()

  async function initialState(): Promise<State> {
    const stored = await store.read()
    if (stored && stored.server === server && (nodeId === '' || stored.nodeId === nodeId))
      return { kind: 'stored', stored }
    if (installToken === undefined) {
      throw new NoTokenError(
        stored
          ? 'The stored token is for another server or node, and no install token was given (CRUX_TOKEN)'
          : 'No install token was given (CRUX_TOKEN)',
      )
    }
    if (stored) await store.forget()
    fallback = undefined
    return { kind: 'install', token: installToken }
  }

  async function keep(stored: StoredToken): Promise<void> {
    await store.write(stored)
    state = { kind: 'stored', stored }
  }

  function token(): string {
    return state.kind === 'stored' ? state.stored.token : state.token
  }

  function ownNodeId(): string {
    return state.kind === 'stored' ? state.stored.nodeId : nodeId
  }

  /** The server may or may not have confirmed a rotated token if the agent stopped in between. */
  async function finishRotation(stored: StoredToken & { next: string }): Promise<void> {
    const { next, ...rest } = stored
    try {
      await clientFor(() => next).confirmToken({})
      await keep({ ...rest, token: next })
    } catch (error) {
      if (!isUnauthenticated(error)) throw error
      await keep(rest)
    }
  }

  return {
    token,
    nodeId: ownNodeId,
    async prepare(info) {
      if (state.kind === 'stored' && state.stored.next !== undefined) {
        await finishRotation({ ...state.stored, next: state.stored.next })
      }
      if (state.kind !== 'install') return
      const exchanged = state.token
      try {
        const answer = await clientFor(() => exchanged).exchange({ info })
        await keep({ server, nodeId: answer.nodeId || nodeId, token: answer.connectionToken })
        await installTokenUsed()
        log.info('install token exchanged')
      } catch (error) {
        if (!isUnauthenticated(error)) throw error
        state = { kind: 'direct', token: exchanged }
      }
    },
    async accepted() {
      if (state.kind === 'direct') await keep({ server, nodeId, token: state.token })
      if (installToken !== undefined) await installTokenUsed()
    },
    async refused() {
      if (state.kind === 'stored') await store.forget()
      if (fallback === undefined) return false
      state = { kind: 'install', token: fallback }
      fallback = undefined
      return true
    },
    async rotate(next) {
      const current = token()
      await keep({ server, nodeId: ownNodeId(), token: current, next })
      await clientFor(() => next).confirmToken({})
      await keep({ server, nodeId: ownNodeId(), token: next })
      log.info('connection token replaced')
    },
    async forget() {
      await store.forget()
      await installTokenUsed()
    },
  }
}

export function isUnauthenticated(error: unknown): boolean {
  return error instanceof ConnectError && error.code === Code.Unauthenticated
}

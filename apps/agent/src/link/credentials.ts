import { Code, ConnectError } from '@connectrpc/connect'
import type { AgentInfo } from '@crux/agent-protocol'
import type { Logger } from '@crux/service-kit'
import type { AgentClient } from './client.ts'
import type { StoredToken, TokenStore } from './token-store.ts'

/**
 * `install`: to be exchanged. `direct`: the same text tried as a connection token, because a token does not show its kind and the
 * environment may contain a connection token too. `update`: of an agent that replaces another one, whose stored token it must not
 * touch before it is accepted.
 */
type State =
  | { kind: 'stored'; stored: StoredToken }
  | { kind: 'install'; token: string }
  | { kind: 'direct'; token: string }
  | { kind: 'update'; token: string }

export class NoTokenError extends Error {
  override name = 'NoTokenError'
}

interface CredentialsOptions {
  store: TokenStore
  server: string
  nodeId: string
  installToken: string | undefined
  /** Of an update that has not ended; all other tokens are ignored. */
  updateToken: string | undefined
  /** Called when the configured token was exchanged or will never be needed: its file may be deleted. */
  installTokenUsed: () => Promise<void>
  clientFor: (token: () => string) => AgentClient
  log: Logger
}

/** @throws NoTokenError when there is no token to connect with */
export async function openCredentials(options: CredentialsOptions): Promise<Credentials> {
  const { store, server, nodeId, installToken } = options
  if (options.updateToken) return new Credentials(options, { kind: 'update', token: options.updateToken }, undefined)
  const stored = await store.read()
  if (stored && stored.server === server && (nodeId === '' || stored.nodeId === nodeId))
    return new Credentials(options, { kind: 'stored', stored }, installToken)
  if (installToken === undefined) {
    throw new NoTokenError(
      stored
        ? 'The stored token is for another server or node, and no install token was given (CRUX_TOKEN)'
        : 'No install token was given (CRUX_TOKEN)',
    )
  }
  if (stored) await store.forget()
  return new Credentials(options, { kind: 'install', token: installToken }, undefined)
}

/**
 * The token that the agent sends. A stored token takes precedence over the configured one (by CRUX_TOKEN or the install script's file)
 * while it is for the same server and node; the configured one is its fallback. Without either there is no connection.
 */
export class Credentials {
  readonly #options: CredentialsOptions
  #state: State
  /** The configured token, while it was not tried yet. */
  #fallback: string | undefined

  constructor(options: CredentialsOptions, state: State, fallback: string | undefined) {
    this.#options = options
    this.#state = state
    this.#fallback = fallback
  }

  token(): string {
    return this.#state.kind === 'stored' ? this.#state.stored.token : this.#state.token
  }

  /** The node that the token is for; empty while only the server knows it. */
  nodeId(): string {
    return this.#state.kind === 'stored' ? this.#state.stored.nodeId : this.#options.nodeId
  }

  /** Prepares a token for Connect: exchanges an install token, confirms a rotated one. */
  async prepare(info: AgentInfo): Promise<void> {
    const { clientFor, installTokenUsed, log, nodeId, server } = this.#options
    const state = this.#state
    if (state.kind === 'stored' && state.stored.next !== undefined)
      await this.#finishRotation({ ...state.stored, next: state.stored.next })
    if (state.kind !== 'install') return
    try {
      const answer = await clientFor(() => state.token).exchange({ info })
      await this.#keep({ server, nodeId: answer.nodeId || nodeId, token: answer.connectionToken })
      await installTokenUsed()
      log.info('install token exchanged')
    } catch (error) {
      if (!isUnauthenticated(error)) throw error
      this.#state = { kind: 'direct', token: state.token }
    }
  }

  /** Called when the server accepted the token. */
  async accepted(): Promise<void> {
    const { installToken, installTokenUsed, nodeId, server } = this.#options
    if (this.#state.kind === 'direct' || this.#state.kind === 'update')
      await this.#keep({ server, nodeId, token: this.#state.token })
    if (installToken !== undefined) await installTokenUsed()
  }

  /** Called when the server refused the token. False: there is no other token, and none is left stored. */
  async refused(): Promise<boolean> {
    await this.#forgetStored()
    if (this.#fallback === undefined) return false
    this.#state = { kind: 'install', token: this.#fallback }
    this.#fallback = undefined
    return true
  }

  async rotate(next: string): Promise<void> {
    const { clientFor, log, server } = this.#options
    const current = this.token()
    await this.#keep({ server, nodeId: this.nodeId(), token: current, next })
    await clientFor(() => next).confirmToken({})
    await this.#keep({ server, nodeId: this.nodeId(), token: next })
    log.info('connection token replaced')
  }

  async forget(): Promise<void> {
    await this.#forgetStored()
    await this.#options.installTokenUsed()
  }

  /** Another agent may have stored its own token in the meantime (docs/agent-update.md). */
  async #forgetStored(): Promise<void> {
    const { store } = this.#options
    const stored = await store.read()
    if (stored?.token === this.token() || stored?.next === this.token()) await store.forget()
  }

  async #keep(stored: StoredToken): Promise<void> {
    await this.#options.store.write(stored)
    this.#state = { kind: 'stored', stored }
  }

  /** The server may or may not have confirmed a rotated token if the agent stopped in between. */
  async #finishRotation({ next, ...rest }: StoredToken & { next: string }): Promise<void> {
    try {
      await this.#options.clientFor(() => next).confirmToken({})
      await this.#keep({ ...rest, token: next })
    } catch (error) {
      if (!isUnauthenticated(error)) throw error
      await this.#keep(rest)
    }
  }
}

export function isUnauthenticated(error: unknown): boolean {
  return error instanceof ConnectError && error.code === Code.Unauthenticated
}

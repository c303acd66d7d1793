import { Code, ConnectError } from '@connectrpc/connect'
import type { AgentInfo, ConnectResponse, Welcome } from '@crux/agent-protocol'
import type { Logger } from '@crux/service-kit'
import { pause } from '../concurrency/pause.ts'
import { getMessage } from '../errors.ts'
import type { AgentClient, ServerConnection } from './client.ts'
import { type Credentials, isUnauthenticated } from './credentials.ts'

/** Why the agent process ends. After every other error it retries indefinitely. */
export type LinkEnd = 'refused' | 'revoked' | 'shutdown' | 'replaced' | 'stopped' | 'updated' | 'update-failed'

interface LinkOptions {
  connection: ServerConnection
  client: AgentClient
  credentials: Credentials
  /** Called for each link, because its result includes the releases that are open then. */
  describe: () => AgentInfo
  onUp: (welcome: Welcome, agentInfo: AgentInfo) => Promise<void>
  onDown: () => void
  openSession: (signal: AbortSignal) => (message: ConnectResponse) => Promise<LinkEnd | undefined>
  log: Logger
  signal: AbortSignal
}

/** A link that lasted this long counts as good: after the next break, waits are short again. */
const goodAfterMs = 2_000

/** Keeps the agent connected until the server, or the signal, ends it permanently. */
export async function runLink(options: LinkOptions): Promise<LinkEnd> {
  const { credentials, connection, log, signal } = options
  const backOff = createBackOff()
  let lastReason = ''
  while (!signal.aborted) {
    const began = Date.now()
    let up = false
    try {
      await credentials.prepare(options.describe())
      const info = options.describe()
      const end = await runSession(options, info, () => {
        up = true
        lastReason = ''
      })
      if (end) return end
    } catch (error) {
      if (signal.aborted) break
      if (isUnauthenticated(error)) {
        if (!(await credentials.refused())) return 'refused'
        log.warn('the server refused the stored token, trying the install token')
        continue
      }
      const reason = getReason(error)
      if (reason !== lastReason)
        log.warn({ reason }, up ? 'the link broke, connecting again' : 'cannot connect, trying again')
      lastReason = reason
    }
    connection.reset()
    if (up && Date.now() - began > goodAfterMs) backOff.reset()
    await pause(backOff.next(), signal).catch(() => undefined)
  }
  return 'stopped'
}

async function runSession(options: LinkOptions, info: AgentInfo, onUp: () => void): Promise<LinkEnd | undefined> {
  const { client, credentials, log } = options
  const ending = new AbortController()
  const signal = AbortSignal.any([options.signal, ending.signal])
  let end: LinkEnd | undefined
  let welcomed = false
  try {
    const execute = options.openSession(signal)
    for await (const message of client.connect({ info }, { signal })) {
      if (message.command.case === 'welcome') {
        const { serverVersion, supported } = message.command.value
        log.info(
          { serverVersion, supported },
          supported ? 'connected' : 'connected, but this agent is too old for the server',
        )
        await credentials.accepted()
        await options.onUp(message.command.value, info)
        welcomed = true
        onUp()
        continue
      }
      // Not awaited: a slow command delays no other.
      execute(message).then(
        (wanted) => {
          if (!wanted) return
          end = wanted
          ending.abort()
        },
        (error) => log.warn({ reason: getReason(error) }, 'a command was not answered'),
      )
      if (message.command.case === 'closeLink') await new Promise((resolve) => setImmediate(resolve))
    }
  } catch (error) {
    if (!end) throw error
  } finally {
    ending.abort()
    if (welcomed) options.onDown()
  }
  return end
}

function getReason(error: unknown): string {
  if (!(error instanceof ConnectError)) return getMessage(error)
  const cause = error.cause instanceof Error ? error.cause.message : ''
  return `${Code[error.code]}: ${error.rawMessage}${cause && !error.rawMessage.includes(cause) ? ` (${cause})` : ''}`
}

interface BackOff {
  /** Milliseconds to wait before the next attempt. */
  next(): number
  reset(): void
}

/**
 * Waits that double from 50 ms to 10 s, each with a quarter of jitter: a server that restarts in 300 ms is found again within a second, and
 * a thousand agents do not reconnect at the same instant.
 */
export function createBackOff(options: { random?: () => number } = {}): BackOff {
  const random = options.random ?? Math.random
  let tries = 0
  return {
    next() {
      const base = Math.min(10_000, 50 * 2 ** Math.min(tries, 10))
      tries += 1
      return Math.round(base * (0.75 + random() / 2))
    },
    reset() {
      tries = 0
    },
  }
}

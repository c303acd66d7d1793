import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { guarded, type Logger } from '@crux/service-kit'
import { messageOf } from '../../../errors/message-of.ts'
import { connectGate, type GateClient, GateGone } from './client.ts'
import { GateError } from './errors.ts'
import type { GateAnswer, GateHello, GatePort, GateRequest, PortKey } from './relay/protocol.ts'
import type { GateRunner } from './runner.ts'

/** The node's gate as the agent uses it: started when it is first needed, restarted when it has ended. Throws GateErrors. */
export interface Gate {
  /** Why ports cannot be held here; undefined when they can. */
  readonly unusable: string | undefined
  /** Applies all changes or none. Starts a gate where none runs. */
  apply(open: readonly GatePort[], close: readonly PortKey[]): Promise<void>
  /** @returns how many connections are left when the time is over */
  drain(container: string, ms: number): Promise<number>
  /** The state of the running gate; undefined when none runs. Does not start one. */
  look(): Promise<GateHello | undefined>
  /** Ends the gate, with every connection. */
  end(): Promise<void>
  /** Closes the connection to the gate, which continues to run. */
  close(): void
}

const upMs = 20_000
const attemptsMax = 5

/** @param options.onLost called when the gate ended without a request */
export function createGate(options: { directory: string; runner: GateRunner; log: Logger; onLost: () => void }): Gate {
  const { directory, runner, log } = options
  let client: GateClient | undefined
  let isEnding = false
  let closed = false
  let connecting: Promise<GateClient | undefined> | undefined

  /** One call at a time: two calls that start a gate at once would start two. */
  function connected(start: boolean): Promise<GateClient | undefined> {
    if (client) return Promise.resolve(client)
    const attempt = (connecting ?? Promise.resolve(undefined)).catch(() => undefined).then(() => client ?? open(start))
    connecting = attempt
    return attempt
  }

  /** @param mayHandOver true once: code that has changed since this agent started would differ from the gate's indefinitely */
  async function open(start: boolean, mayHandOver = true): Promise<GateClient | undefined> {
    let found = await connectGate(directory)
    if (!found && !start) return undefined
    if (!found) {
      if (runner.unusable) throw new GateError(runner.unusable)
      await runner.start()
      const until = performance.now() + upMs
      while (!found && performance.now() < until) {
        await delay(20)
        // The parent that was found may have been about to end with its gate.
        runner.ensureParent()
        found = await connectGate(directory)
      }
      if (!found)
        throw new GateError(`the gate does not answer: ${join(directory, 'gate.log')} or its container says why`)
      log.info('the gate runs')
    }
    const mine = found
    runner.ensureParent()
    const hello = await helloOf(mine)
    if (hello.code !== runner.code && mayHandOver) {
      const reason = await handOverTo(mine)
      if (reason === undefined) {
        mine.close()
        log.info('the gate handed its ports over to the code of this agent')
        return open(start, false)
      }
      log.warn({ reason }, 'the gate could not hand over to the code of this agent and goes on with its own')
    }
    client = mine
    mine.onEnd(
      guarded('the end of the gate', (handedOver: boolean) => {
        if (client !== mine) return
        client = undefined
        if (!closed && !isEnding && !handedOver) options.onLost()
      }),
    )
    return mine
  }

  /** @returns the reason if it did not hand over */
  async function handOverTo(gate: GateClient): Promise<string | undefined> {
    let entry: string
    try {
      entry = runner.entryForHandover()
    } catch (error) {
      return messageOf(error)
    }
    const answer = await gate.ask({ kind: 'handover', entry })
    return answer.ok ? undefined : answer.message
  }

  /**
   * Every request may be repeated, so a gate that ends or hands over in between loses none.
   *
   * @param start whether to start a gate where none runs; without it, the result is undefined then
   */
  async function ask(start: boolean, make: () => GateRequest): Promise<GateAnswer | undefined> {
    for (let attempts = 1; ; attempts += 1) {
      try {
        const gate = await connected(start)
        return gate && (await gate.ask(make()))
      } catch (error) {
        if (!(error instanceof GateGone) || attempts >= attemptsMax) throw error
        client = undefined
      }
    }
  }

  return {
    unusable: runner.unusable,
    async apply(open, close) {
      const answer = await ask(true, () => ({ kind: 'apply', open: [...open], close: [...close] }))
      if (!answer) throw new GateError('the gate is not there')
      if (!answer.ok) throw new GateError(answer.message, { code: answer.code, port: answer.port })
    },
    async drain(container, ms) {
      const until = performance.now() + ms
      const answer = await ask(true, () => ({ kind: 'drain', container, ms: Math.max(0, until - performance.now()) }))
      return answer?.ok ? (answer.left ?? 0) : 0
    },
    async look() {
      const answer = await ask(false, () => ({ kind: 'hello' }))
      if (!answer) return undefined
      runner.ensureParent()
      return toHello(answer)
    },
    async end() {
      isEnding = true
      try {
        await ask(false, () => ({ kind: 'stop' }))
      } catch (error) {
        log.debug({ reason: messageOf(error) }, 'the gate ended')
      } finally {
        client?.close()
        client = undefined
        isEnding = false
      }
      await runner.remove()
    },
    close() {
      closed = true
      client?.close()
    },
  }
}

async function helloOf(gate: GateClient): Promise<GateHello> {
  return toHello(await gate.ask({ kind: 'hello' }))
}

function toHello(answer: GateAnswer): GateHello {
  if (!answer.ok || !answer.hello) throw new GateError('the gate speaks another language')
  return answer.hello
}

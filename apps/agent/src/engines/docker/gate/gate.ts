import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { guarded, type Logger } from '@crux/service-kit'
import { getMessage } from '../../../errors.ts'
import type { PublishedPort } from '../containers/container-engine.ts'
import { connectGate, type GateClient, GateGone } from './client.ts'
import { GateError } from './errors.ts'
import type { GateAnswer, GateHello, GatePort, GateRequest, PortKey } from './relay/protocol.ts'
import type { GateRunner } from './runner.ts'

const upMs = 20_000
const attemptsMax = 5

interface GateOptions {
  directory: string
  runner: GateRunner
  log: Logger
  /** Called when the gate ended without a request. */
  onLost: () => void
}

/** The node's gate as the agent uses it: started when it is first needed, restarted when it has ended. Throws GateErrors. */
export class Gate {
  /** Why ports cannot be held here; undefined when they can. */
  readonly unusable: string | undefined
  readonly #options: GateOptions
  #client: GateClient | undefined
  #connecting: Promise<GateClient | undefined> | undefined
  #isEnding = false
  #closed = false

  constructor(options: GateOptions) {
    this.#options = options
    this.unusable = options.runner.unusable
  }

  /** Applies all changes or none. Starts a gate where none runs. */
  async apply(open: readonly GatePort[], close: readonly PortKey[]) {
    const answer = await this.#ask(true, () => ({ kind: 'apply', open: [...open], close: [...close] }))
    if (!answer) throw new GateError('the gate does not run')
    if (!answer.ok) throw new GateError(answer.message, { code: answer.code, port: answer.port })
  }

  /** @returns how many connections are left when the time is over */
  async drain(container: string, ms: number) {
    const until = performance.now() + ms
    const answer = await this.#ask(true, () => ({
      kind: 'drain',
      container,
      ms: Math.max(0, until - performance.now()),
    }))
    return answer?.ok ? (answer.left ?? 0) : 0
  }

  /** The state of the running gate; undefined when none runs. Does not start one. */
  async readState() {
    const answer = await this.#ask(false, () => ({ kind: 'hello' }))
    if (!answer) return undefined
    this.#options.runner.ensureParent()
    return toHello(answer)
  }

  /** The ports that the running gate holds, whichever container they are for. */
  async heldPorts(): Promise<PublishedPort[]> {
    const { ports = [] } = (await this.readState()) ?? {}
    return ports.map(({ port, address }) => ({ hostPort: port, protocol: 'tcp', address }))
  }

  /** Ends the gate, with every connection. */
  async end() {
    const { log, runner } = this.#options
    this.#isEnding = true
    try {
      await this.#ask(false, () => ({ kind: 'stop' }))
    } catch (error) {
      log.debug({ reason: getMessage(error) }, 'the gate ended')
    } finally {
      this.#client?.close()
      this.#client = undefined
      this.#isEnding = false
    }
    await runner.remove()
  }

  /** Closes the connection to the gate, which continues to run. */
  close() {
    this.#closed = true
    this.#client?.close()
  }

  /**
   * Every request may be repeated, so a gate that ends or hands over in between loses none.
   *
   * @param start whether to start a gate where none runs; without it, the result is undefined then
   */
  async #ask(start: boolean, make: () => GateRequest): Promise<GateAnswer | undefined> {
    for (let attempts = 1; ; attempts += 1) {
      try {
        const gate = await this.#connected(start)
        return gate && (await gate.ask(make()))
      } catch (error) {
        if (!(error instanceof GateGone) || attempts >= attemptsMax) throw error
        this.#client = undefined
      }
    }
  }

  /** One call at a time: two calls that start a gate at once would start two. */
  #connected(start: boolean): Promise<GateClient | undefined> {
    if (this.#client) return Promise.resolve(this.#client)
    const attempt = (this.#connecting ?? Promise.resolve(undefined))
      .catch(() => undefined)
      .then(() => this.#client ?? this.#open(start))
    this.#connecting = attempt
    return attempt
  }

  /** @param mayHandOver true once: code that has changed since this agent started would differ from the gate's indefinitely */
  async #open(start: boolean, mayHandOver = true): Promise<GateClient | undefined> {
    const { directory, log, onLost, runner } = this.#options
    const gate = (await connectGate(directory)) ?? (start ? await this.#start() : undefined)
    if (!gate) return undefined
    runner.ensureParent()
    const hello = toHello(await gate.ask({ kind: 'hello' }))
    if (hello.code !== runner.code && mayHandOver) {
      const reason = await handOverTo(gate, runner)
      if (reason === undefined) {
        gate.close()
        log.info('the gate handed its ports over to the code of this agent')
        return this.#open(start, false)
      }
      log.warn({ reason }, 'the gate could not hand over to the code of this agent and continues with its own')
    }
    this.#client = gate
    gate.onEnd(
      guarded('the end of the gate', (handedOver: boolean) => {
        if (this.#client !== gate) return
        this.#client = undefined
        if (!this.#closed && !this.#isEnding && !handedOver) onLost()
      }),
    )
    return gate
  }

  async #start(): Promise<GateClient> {
    const { directory, log, runner } = this.#options
    if (runner.unusable) throw new GateError(runner.unusable)
    await runner.start()
    for (const until = performance.now() + upMs; performance.now() < until; ) {
      await delay(20)
      // The parent that was found may have been about to end with its gate.
      runner.ensureParent()
      const gate = await connectGate(directory)
      if (!gate) continue
      log.info('the gate runs')
      return gate
    }
    throw new GateError(`the gate does not answer: ${join(directory, 'gate.log')} or its container says why`)
  }
}

/** @returns the reason if the gate did not hand over to the code of this agent */
async function handOverTo(gate: GateClient, runner: GateRunner): Promise<string | undefined> {
  let entry: string
  try {
    entry = runner.entryForHandover()
  } catch (error) {
    return getMessage(error)
  }
  const answer = await gate.ask({ kind: 'handover', entry })
  return answer.ok ? undefined : answer.message
}

function toHello(answer: GateAnswer): GateHello {
  if (!answer.ok || !answer.hello) throw new GateError('the gate speaks another language')
  return answer.hello
}

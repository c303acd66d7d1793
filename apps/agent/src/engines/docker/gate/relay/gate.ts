import type { ChildProcess } from 'node:child_process'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { listenForAgent } from './control.ts'
import { type HandoverMessage, type Predecessor, type Reply, startSuccessor } from './handover.ts'
import { forgetSuccessor } from './pid-files.ts'
import { Ports } from './ports.ts'
import { type GateAnswer, type GatePort, type GateRequest, handedOverCode, toKey } from './protocol.ts'
import type { Relay } from './relay.ts'
import { report } from './report.ts'
import { isPort, readPorts, writePorts } from './state.ts'

const hasHandedOver: GateAnswer = { ok: false, code: handedOverCode, message: 'this gate has handed over' }
/** How often a gate that has handed over checks whether its last connection has ended. */
const endCheckMs = 250
/** For how long, and how often, the gate tries to hold a port that was still taken when it started. */
const reserveLaterMs = 15_000
const reserveEveryMs = 10
/** For how long a command about such a port waits for it. */
const untilReservedMs = 2_000
/** How often it checks that its control socket still exists: without it, no agent could ever reach this gate. */
const controlCheckMs = 10_000

export interface GateOptions {
  directory: string
  /** The version of the code. */
  code: string
  /** The connections of this process, which may have been the gate before. */
  relay: Relay
  predecessor?: Predecessor | undefined
  /** Called when it has handed over and its last connection has ended. */
  onDrained: () => void
}

/** A running gate: its ports, its connections, the agent's commands, and its position between predecessor and successor. */
export class RunningGate {
  readonly #options: GateOptions
  readonly #ports: Ports
  /** By key: ports that were still taken when this gate started. It reports them as held, and retries until it holds them. */
  readonly #pending = new Map<string, GatePort>()
  readonly #controlPath: string
  #predecessor: Predecessor | undefined
  #applying: Promise<unknown> = Promise.resolve()
  #reserved: Promise<unknown> = Promise.resolve()
  #handedOver = false
  #control: { handOver(): void } | undefined
  #controlCheck: NodeJS.Timeout | undefined

  private constructor(options: GateOptions) {
    this.#options = options
    this.#ports = new Ports(options.relay)
    this.#predecessor = options.predecessor
    this.#controlPath = join(options.directory, 'control.sock')
  }

  static async start(options: GateOptions): Promise<RunningGate> {
    const gate = new RunningGate(options)
    await gate.#start()
    return gate
  }

  /** Resolves when every port that was taken at the start is held, or was given up. */
  get reserved(): Promise<unknown> {
    return this.#reserved
  }

  /**
   * Hands all listening sockets over to a new process of this code, which `node` runs.
   *
   * @throws when that process cannot be started or does not answer: this gate then continues
   */
  handOver(entry: string, node: string): Promise<GateAnswer> {
    return this.#inOrder(() => this.#handOver(entry, node))
  }

  /** Ends this process on purpose, and the parent with it: without the control socket, the parent starts no other gate. */
  end(): void {
    if (!this.#handedOver) keep(() => rmSync(this.#controlPath, { force: true }))
    setImmediate(() => process.exit(0))
  }

  async #start(): Promise<void> {
    const { directory } = this.#options
    // Ports are opened one by one: a port that another process has taken does not keep the others closed.
    if (this.#predecessor) await this.#takeOver(this.#predecessor)
    else {
      for (const port of readPorts(directory))
        if (!(await this.#ports.apply([port], [])).ok) this.#pending.set(toKey(port), port)
      try {
        await this.#listen()
      } catch (error) {
        this.#ports.leave()
        throw error
      }
    }
    this.#reserved = Promise.all([...this.#pending.values()].map((port) => this.#reserveLater(port)))
    keep(() => writeFileSync(join(directory, 'gate.pid'), `${process.pid}\n`, { mode: 0o600 }))
    const own = getInode(this.#controlPath)
    const endWithoutControl = async () => !this.#handedOver && getInode(this.#controlPath) !== own && process.exit(0)
    this.#controlCheck = setInterval(() => this.#inOrder(endWithoutControl), controlCheckMs).unref()
  }

  async #listen(): Promise<void> {
    this.#control = await listenForAgent(this.#options.directory, (request) => this.#answer(request))
  }

  async #takeOver(predecessor: Predecessor): Promise<void> {
    await predecessor.takeOver(this.#ports.adopt, async () => {
      await this.#listen()
      forgetSuccessor(this.#options.directory, process.pid)
    })
    predecessor.onEnd(() => {
      this.#predecessor = undefined
    })
  }

  #entries(): GatePort[] {
    return [...this.#ports.entries(), ...this.#pending.values()]
  }

  async #connections(): Promise<number> {
    return this.#options.relay.count() + ((await this.#predecessor?.count()) ?? 0)
  }

  async #drained(container: string, ms: number): Promise<number> {
    const [own, before] = await Promise.all([
      this.#options.relay.drained(container, ms),
      this.#predecessor?.drained(container, ms) ?? 0,
    ])
    return own + before
  }

  async #answer(request: GateRequest): Promise<GateAnswer> {
    if (this.#handedOver) return hasHandedOver
    switch (request.kind) {
      case 'hello': {
        const { code } = this.#options
        // The ports first: a handover during the count leaves this process without any.
        const ports = this.#entries()
        return { ok: true, hello: { code, pid: process.pid, ports, connections: await this.#connections() } }
      }
      case 'apply':
        if (Array.isArray(request.open)) await this.#untilReserved(request.open.filter(isPort))
        return this.#inOrder(() => this.#apply(request))
      case 'drain':
        return { ok: true, left: await this.#drained(request.container, request.ms) }
      case 'handover':
        // A successor gets only the ports that listen.
        await this.#reserved
        return this.#inOrder(() => this.#handOver(request.entry))
      case 'stop':
        return this.#inOrder(() => this.#stop(request.keepPorts))
      default:
        return { ok: false, code: '', message: 'this gate does not know that request' }
    }
  }

  async #apply({ open, close }: Extract<GateRequest, { kind: 'apply' }>): Promise<GateAnswer> {
    if (this.#handedOver) return hasHandedOver
    if (!open.every(isPort)) return { ok: false, code: '', message: 'not a port' }
    const answer = await this.#ports.apply(open, close)
    if (!answer.ok) return answer
    for (const key of [...open, ...close].map(toKey)) this.#pending.delete(key)
    keep(() => writePorts(this.#options.directory, this.#entries()))
    return answer
  }

  async #stop(keepPorts = false): Promise<GateAnswer> {
    if (this.#handedOver) return hasHandedOver
    this.#ports.leave()
    if (!keepPorts) keep(() => writePorts(this.#options.directory, []))
    this.end()
    return { ok: true }
  }

  async #handOver(entry: string, node = process.execPath): Promise<GateAnswer> {
    if (this.#handedOver) return hasHandedOver
    const successor = await startSuccessor(node, entry, this.#options.directory, this.#ports.listening())
    this.#handedOver = true
    clearInterval(this.#controlCheck)
    this.#serve(successor)
    // The successor accepts already; this process finishes the connections that it received before it stops listening.
    this.#ports.leave()
    setImmediate(() => this.#control?.handOver())
    const timer = setInterval(async () => {
      if ((await this.#connections()) > 0) return
      clearInterval(timer)
      if (successor.connected) successor.disconnect()
      this.#options.onDrained()
    }, endCheckMs)
    return { ok: true }
  }

  /** Reports to the successor the connections that are left in this process. */
  #serve(successor: ChildProcess): void {
    const reply = (id: number, left: number) =>
      successor.connected && successor.send({ kind: 'left', id, left } satisfies Reply)
    successor.on('message', async (message: HandoverMessage) => {
      if (message.kind === 'drain') reply(message.id, await this.#drained(message.container, message.ms))
      if (message.kind === 'count') reply(message.id, await this.#connections())
    })
    successor.on('error', () => undefined)
  }

  /** A killed gate holds its ports for some milliseconds more, and a successor that was in the middle of a handover holds them until it ends. */
  async #reserveLater(port: GatePort): Promise<void> {
    const key = toKey(port)
    let message = ''
    for (const end = performance.now() + reserveLaterMs; performance.now() < end; ) {
      await delay(reserveEveryMs)
      // An agent that has opened or closed the port since has newer information.
      const opened = await this.#inOrder(
        async () => this.#pending.has(key) && !this.#handedOver && this.#ports.apply([port], []),
      )
      if (!opened) return
      if (opened.ok) {
        this.#pending.delete(key)
        return
      }
      message = opened.message
    }
    this.#pending.delete(key)
    process.stderr.write(`port ${port.port} cannot be held again: ${message}\n`)
  }

  /** A command for a port that is still taken waits until then: before that it could only fail. */
  async #untilReserved(open: readonly GatePort[]): Promise<void> {
    for (const end = performance.now() + untilReservedMs; performance.now() < end; await delay(reserveEveryMs))
      if (!open.some((port) => this.#pending.has(toKey(port)))) return
  }

  /** Changes run one after another: a handover passes on the result of the last one, and changes that waited behind it are refused. */
  #inOrder<T>(work: () => Promise<T>): Promise<T> {
    const run = this.#applying.then(work)
    this.#applying = run.catch(() => undefined)
    return run
  }
}

/** Data that is needed only later must not cost the ports now, for example on a full disk. */
function keep(write: () => void): void {
  try {
    write()
  } catch (error) {
    report(error)
  }
}

function getInode(path: string): number | undefined {
  try {
    return statSync(path).ino
  } catch {
    return undefined
  }
}

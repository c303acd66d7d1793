import type { ChildProcess } from 'node:child_process'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { listenForAgent } from './control.ts'
import { type HandoverMessage, type Predecessor, type Reply, startSuccessor } from './handover.ts'
import { forgetSuccessor } from './pid-files.ts'
import { createPorts } from './ports.ts'
import { type GateAnswer, type GatePort, type GateRequest, handedOverCode, keyOf } from './protocol.ts'
import type { Relay } from './relay.ts'
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

export interface RunningGate {
  /** Resolves when every port that was taken at the start is held, or was given up. */
  reserved: Promise<unknown>
  /**
   * Hands all listening sockets over to a new process of this code, which `node` runs.
   *
   * @throws when that process cannot be started or does not answer: this gate then continues
   */
  handOver(entry: string, node: string): Promise<GateAnswer>
  /** Ends this process on purpose, and the parent with it. */
  end(): void
}

/** A running gate: its ports, its connections, the agent's commands, and its position between predecessor and successor. */
export async function runGate(options: {
  directory: string
  /** The version of the code. */
  code: string
  /** The connections of this process, which may have been the gate before. */
  relay: Relay
  predecessor?: Predecessor | undefined
  /** Called when it has handed over and its last connection has ended. */
  onDrained: () => void
}): Promise<RunningGate> {
  const { directory, code, relay, onDrained } = options
  let { predecessor } = options
  const ports = createPorts(relay)
  let applying: Promise<unknown> = Promise.resolve()
  let reserved: Promise<unknown> = Promise.resolve()
  let handedOver = false
  /** By key: ports that were still taken when this gate started. It reports them as held, and retries until it holds them. */
  const pending = new Map<string, GatePort>()
  let control: { handOver(): void } | undefined
  let controlCheck: NodeJS.Timeout | undefined

  const entries = () => [...ports.entries(), ...pending.values()]
  const connections = async () => relay.count() + ((await predecessor?.count()) ?? 0)

  async function drained(container: string, ms: number): Promise<number> {
    const [own, before] = await Promise.all([relay.drained(container, ms), predecessor?.drained(container, ms) ?? 0])
    return own + before
  }

  async function apply({ open, close }: Extract<GateRequest, { kind: 'apply' }>): Promise<GateAnswer> {
    if (handedOver) return hasHandedOver
    if (!open.every(isPort)) return { ok: false, code: '', message: 'not a port' }
    const answer = await ports.apply(open, close)
    if (!answer.ok) return answer
    for (const key of [...open, ...close].map(keyOf)) pending.delete(key)
    keep(() => writePorts(directory, entries()))
    return answer
  }

  async function handOver(entry: string, node = process.execPath): Promise<GateAnswer> {
    if (handedOver) return hasHandedOver
    const successor = await startSuccessor(node, entry, directory, ports.listening())
    handedOver = true
    clearInterval(controlCheck)
    serve(successor)
    // The successor accepts already; this process finishes the connections that it received before it stops listening.
    ports.leave()
    setImmediate(() => control?.handOver())
    const timer = setInterval(async () => {
      if ((await connections()) > 0) return
      clearInterval(timer)
      if (successor.connected) successor.disconnect()
      onDrained()
    }, endCheckMs)
    return { ok: true }
  }

  /** Reports to the successor the connections that are left in this process. */
  function serve(successor: ChildProcess): void {
    const reply = (id: number, left: number) =>
      successor.connected && successor.send({ kind: 'left', id, left } satisfies Reply)
    successor.on('message', async (message: HandoverMessage) => {
      if (message.kind === 'drain') reply(message.id, await drained(message.container, message.ms))
      if (message.kind === 'count') reply(message.id, await connections())
    })
    successor.on('error', () => undefined)
  }

  /** A killed gate holds its ports for some milliseconds more, and a successor that was in the middle of a handover holds them until it ends. */
  async function reserveLater(port: GatePort): Promise<void> {
    let message = ''
    for (const end = performance.now() + reserveLaterMs; performance.now() < end; ) {
      await delay(reserveEveryMs)
      // An agent that has opened or closed the port since has newer information.
      const opened = await inOrder(async () => pending.has(keyOf(port)) && !handedOver && ports.apply([port], []))
      if (!opened) return
      if (opened.ok) {
        pending.delete(keyOf(port))
        return
      }
      message = opened.message
    }
    pending.delete(keyOf(port))
    process.stderr.write(`port ${port.port} cannot be held again: ${message}\n`)
  }

  /** A command for a port that is still taken waits until then: before that it could only fail. */
  async function untilReserved(open: readonly GatePort[]): Promise<void> {
    for (const end = performance.now() + untilReservedMs; performance.now() < end; await delay(reserveEveryMs))
      if (!open.some((port) => pending.has(keyOf(port)))) return
  }

  /** Changes run one after another: a handover passes on the result of the last one, and changes that waited behind it are refused. */
  function inOrder<T>(work: () => Promise<T>): Promise<T> {
    const run = applying.then(work)
    applying = run.catch(() => undefined)
    return run
  }

  /** Removes the control socket, so that the parent starts no other gate. */
  function endOnPurpose(): void {
    if (!handedOver) keep(() => rmSync(join(directory, 'control.sock'), { force: true }))
    setImmediate(() => process.exit(0))
  }

  async function stop(keepPorts = false): Promise<GateAnswer> {
    if (handedOver) return hasHandedOver
    ports.leave()
    if (!keepPorts) keep(() => writePorts(directory, []))
    endOnPurpose()
    return { ok: true }
  }

  async function answer(request: GateRequest): Promise<GateAnswer> {
    if (handedOver) return hasHandedOver
    switch (request.kind) {
      case 'hello':
        return {
          ok: true,
          hello: { code, pid: process.pid, ports: entries(), connections: await connections() },
        }
      case 'apply':
        if (Array.isArray(request.open)) await untilReserved(request.open.filter(isPort))
        return inOrder(() => apply(request))
      case 'drain':
        return { ok: true, left: await drained(request.container, request.ms) }
      case 'handover':
        // A successor gets only the ports that listen.
        await reserved
        return inOrder(() => handOver(request.entry))
      case 'stop':
        return inOrder(() => stop(request.keepPorts))
      default:
        return { ok: false, code: '', message: 'this gate does not know that request' }
    }
  }

  // Ports are opened one by one: a port that another process has taken does not keep the others closed.
  if (predecessor) {
    const previous = predecessor
    await previous.takeOver(ports.adopt, async () => {
      control = await listenForAgent(directory, answer)
      forgetSuccessor(directory, process.pid)
    })
    previous.onEnd(() => {
      predecessor = undefined
    })
  } else {
    for (const port of readPorts(directory)) if (!(await ports.apply([port], [])).ok) pending.set(keyOf(port), port)
    try {
      control = await listenForAgent(directory, answer)
    } catch (error) {
      ports.leave()
      throw error
    }
  }
  reserved = Promise.all([...pending.values()].map(reserveLater))
  keep(() => writeFileSync(join(directory, 'gate.pid'), `${process.pid}\n`, { mode: 0o600 }))
  const controlPath = join(directory, 'control.sock')
  const own = inodeOf(controlPath)
  controlCheck = setInterval(
    () => inOrder(async () => !handedOver && inodeOf(controlPath) !== own && process.exit(0)),
    controlCheckMs,
  ).unref()
  return {
    reserved,
    handOver: (entry, node) => inOrder(() => handOver(entry, node)),
    end: endOnPurpose,
  }
}

/** Data that is needed only later must not cost the ports now, for example on a full disk. */
function keep(write: () => void): void {
  try {
    write()
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  }
}

function inodeOf(path: string): number | undefined {
  try {
    return statSync(path).ino
  } catch {
    return undefined
  }
}

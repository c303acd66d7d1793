import type { ChildProcess } from 'node:child_process'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isGateListening, listenForAgent } from './control.ts'
import { type Predecessor, type Reply, startSuccessor, type Told } from './handover.ts'
import { createPorts } from './ports.ts'
import type { GateAnswer, GatePort, GateRequest } from './protocol.ts'
import { createRelay } from './relay.ts'
import { isPort, readPorts, writePorts } from './state.ts'

/** How often a gate that has handed over looks whether its last connection has ended. */
const endCheckMs = 250
/** For how long, and how often, it tries to hold a port that was still taken when it started. */
const holdLaterMs = 15_000
const holdEveryMs = 50
/** How often it looks whether its folder is still there: without it nobody could ever tell it anything. */
const folderCheckMs = 10_000

/** One gate process: its ports, its connections, the agent's commands, and its place between predecessor and successor. */
export async function runGate(options: {
  folder: string
  /** What the code calls itself. */
  code: string
  predecessor: Predecessor | undefined
}): Promise<void> {
  const { folder, code } = options
  let { predecessor } = options
  const relay = createRelay()
  const ports = createPorts(relay)
  let applying: Promise<unknown> = Promise.resolve()
  let handedOver = false
  let isToldPorts = false
  let control: { close(): void } | undefined

  const connections = async () => relay.count() + ((await predecessor?.count()) ?? 0)

  async function drained(container: string, ms: number): Promise<number> {
    const [own, before] = await Promise.all([relay.drained(container, ms), predecessor?.drained(container, ms) ?? 0])
    return own + before
  }

  async function apply({ open, close }: Extract<GateRequest, { kind: 'apply' }>): Promise<GateAnswer> {
    if (!open.every(isPort)) return { ok: false, code: '', message: 'not a port' }
    isToldPorts = true
    const answer = await ports.apply(open, close)
    if (answer.ok) keep(() => writePorts(folder, ports.entries()))
    return answer
  }

  async function handOver(entry: string): Promise<GateAnswer> {
    const successor = await startSuccessor(entry, folder, ports.listening())
    handedOver = true
    serve(successor)
    // The successor accepts already; what reached this process before it stops listening is carried to its end here.
    ports.leave()
    setImmediate(() => control?.close())
    const timer = setInterval(async () => {
      if ((await connections()) > 0) return
      clearInterval(timer)
      process.exit(0)
    }, endCheckMs)
    return { ok: true }
  }

  /** Tells the successor about the connections that are left here. */
  function serve(successor: ChildProcess): void {
    const reply = (id: number, left: number) =>
      successor.connected && successor.send({ kind: 'left', id, left } satisfies Reply)
    successor.on('message', async (told: Told) => {
      if (told.kind === 'drain') reply(told.id, await drained(told.container, told.ms))
      if (told.kind === 'count') reply(told.id, await connections())
    })
    successor.on('error', () => undefined)
  }

  /** A gate that was killed in the middle of a handover leaves its ports to a successor that ends a moment later. */
  async function holdLater(port: GatePort): Promise<void> {
    let message = ''
    for (const end = performance.now() + holdLaterMs; performance.now() < end; ) {
      await delay(holdEveryMs)
      // An agent that has said what shall be held since knows better.
      if (isToldPorts || handedOver) return
      const opened = await inOrder(() => ports.apply([port], []))
      if (opened.ok) return
      message = opened.message
    }
    process.stderr.write(`port ${port.port} cannot be held again: ${message}\n`)
  }

  /** Changes go one after another: a handover gives away what the last one left. */
  function inOrder<T>(work: () => Promise<T>): Promise<T> {
    const run = applying.then(work)
    applying = run.catch(() => undefined)
    return run
  }

  /** Without its control socket the parent knows that it shall start no other. */
  function endOnPurpose(): void {
    if (!handedOver) keep(() => rmSync(join(folder, 'control.sock'), { force: true }))
    setImmediate(() => process.exit(0))
  }

  async function answer(request: GateRequest): Promise<GateAnswer> {
    if (handedOver) return { ok: false, code: 'EHANDEDOVER', message: 'this gate has handed over' }
    switch (request.kind) {
      case 'hello':
        return {
          ok: true,
          hello: { code, pid: process.pid, ports: ports.entries(), connections: await connections() },
        }
      case 'apply':
        return inOrder(() => apply(request))
      case 'drain':
        return { ok: true, left: await drained(request.container, request.ms) }
      case 'handover':
        return inOrder(() => handOver(request.entry))
      case 'stop':
        ports.leave()
        if (!request.keepPorts) keep(() => writePorts(folder, []))
        endOnPurpose()
        return { ok: true }
      default:
        return { ok: false, code: '', message: 'this gate does not know that request' }
    }
  }

  if (predecessor) {
    const former = predecessor
    await former.takeOver(ports.adopt, async () => {
      control = await listenForAgent(folder, answer)
    })
    former.onEnd(() => {
      predecessor = undefined
    })
  } else {
    // Its parent did not see the other gate in time.
    if (await isGateListening(folder)) process.exit(0)
    // One by one: a port that somebody else has taken meanwhile does not keep the others shut.
    const taken: GatePort[] = []
    for (const port of readPorts(folder)) if (!(await ports.apply([port], [])).ok) taken.push(port)
    control = await listenForAgent(folder, answer)
    for (const port of taken) void holdLater(port)
  }
  process.on('SIGTERM', endOnPurpose)
  keep(() => writeFileSync(join(folder, 'gate.pid'), `${process.pid}\n`, { mode: 0o600 }))
  const own = statSync(folder).ino
  setInterval(() => {
    if (inodeOf(folder) !== own && !handedOver) process.exit(0)
  }, folderCheckMs).unref()
}

/** What only helps later must not cost the ports now, on a full disk for instance. */
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

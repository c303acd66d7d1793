import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { isAbsolute, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { claimParent } from './parent-pid.ts'
import { socketPath } from './socket-path.ts'

/** A gate that ends sooner than this after it has answered has failed quickly: the second such end brings a pause, each further one a longer. */
const quickMs = 300
const firstPauseMs = 100
const pauseMaxMs = 3_000
/** A gate that has not answered after this time is killed and counts as one that failed. */
const upMs = 15_000
/** How many gates in a row may fail before any has answered: then something is wrong that no restart repairs. */
const attemptsMax = 8
const endMs = 1_000

/**
 * Starts a gate in the folder, waits for its end and starts the next one, without an agent. It finds the gate that runs by the control
 * socket and not as its child, because a successor is the child of its predecessor, and so that it can go on for a parent that was
 * killed. A gate that ends on purpose removes the control socket, and the parent ends with it.
 */
export async function runParent(folder: string, builtIn: string): Promise<never> {
  let gate: Socket | undefined
  let starting: ChildProcess | undefined
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, async () => {
      starting?.kill('SIGTERM')
      if (gate && !gate.destroyed) {
        gate.write(`${JSON.stringify({ id: 0, kind: 'stop', keepPorts: true })}\n`)
        await Promise.race([closed(gate), delay(endMs)])
      }
      process.exit(0)
    })

  /** @returns undefined when it ended before it answered */
  async function startGate(): Promise<Socket | undefined> {
    const { entry, node } = latestCode(folder, builtIn)
    const child = spawn(node, [entry, folder], { detached: true, stdio: ['ignore', 'inherit', 'inherit'] })
    let isOver = false
    child.once('exit', () => {
      isOver = true
    })
    child.once('error', (error) => {
      process.stderr.write(`${error.message}\n`)
      isOver = true
    })
    starting = child
    const until = performance.now() + upMs
    while (!isOver && performance.now() < until) {
      await delay(10)
      const found = await reachGate(folder)
      if (typeof found !== 'string') {
        starting = undefined
        return found
      }
    }
    starting = undefined
    child.kill('SIGKILL')
    return undefined
  }

  let hasAnswered = false
  let quickEnds = 0
  for (;;) {
    if (!existsSync(folder) || !claimParent(folder)) process.exit(0)
    const found = await reachGate(folder)
    if (found === 'none' && hasAnswered) process.exit(0)
    gate = typeof found === 'string' ? await startGate() : found
    const answeredAt = performance.now()
    if (gate) {
      hasAnswered = true
      // The gate has said nothing that the parent needs; without reading, its end would not be noticed.
      gate.resume()
      await closed(gate)
    }
    quickEnds = performance.now() - answeredAt < quickMs ? quickEnds + 1 : 0
    if (!hasAnswered && quickEnds >= attemptsMax) {
      process.stderr.write('the gate ended at every start: its parent gives up\n')
      process.exit(1)
    }
    // The first restart comes at once.
    if (quickEnds > 1) await delay(Math.min(pauseMaxMs, firstPauseMs * 2 ** (quickEnds - 2)))
  }
}

/** A gate that is killed may also reset the connection. */
function closed(gate: Socket): Promise<void> {
  return new Promise((resolve) => gate.once('close', () => resolve()))
}

/** @returns `none` without a control socket, `dead` when nobody listens behind it */
function reachGate(folder: string): Promise<Socket | 'none' | 'dead'> {
  return new Promise((resolve) => {
    let path: string
    try {
      path = socketPath(folder)
    } catch {
      return resolve('none')
    }
    const socket = connect(path)
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ENOENT' ? 'none' : 'dead'))
    socket.once('connect', () => {
      socket.on('error', () => undefined)
      resolve(socket)
    })
  })
}

/**
 * An agent that starts or hands over to a gate leaves in `entry` the code, and outside of a container the Node, that the next one has to
 * use: an update may have removed those that this process was started from.
 */
function latestCode(folder: string, builtIn: string): { entry: string; node: string } {
  const own = { entry: builtIn, node: process.execPath }
  try {
    const [name = '', node = ''] = readFileSync(join(folder, 'entry'), 'utf8').trim().split('\n')
    const entry = isAbsolute(name) ? name : join(folder, name)
    return name !== '' && existsSync(entry) ? { entry, node: existsSync(node) ? node : own.node } : own
  } catch {
    return own
  }
}

import { existsSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { isAbsolute, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { reachGate } from './control.ts'
import { RunningGate } from './gate.ts'
import { claimParent, findProcess } from './pid-files.ts'
import { Relay } from './relay.ts'
import { report } from './report.ts'

/**
 * A gate that ends sooner than this after it has answered has failed quickly: the second such end causes a delay, and each further one a
 * longer delay.
 */
const quickMs = 300
const firstPauseMs = 100
const pauseMaxMs = 3_000
/** How many gates in a row may fail before any has answered: after that, a restart repairs nothing. */
const attemptsMax = 8
const endMs = 1_000

/**
 * Keeps a gate running in the directory, without an agent. When the gate has ended, this process becomes the gate at once: it runs already,
 * so its ports refuse connections for some milliseconds and not for the start of a process. Then it starts a new gate and hands over to it,
 * so that the next end does not affect the parent.
 *
 * It finds the running gate by the control socket and not as its child, because a successor is the child of its predecessor, and so that it
 * can replace a parent that was killed. A gate that ends on purpose removes the control socket, and the parent ends with it.
 */
export async function runParent(directory: string, code: string, builtIn: string): Promise<never> {
  const relay = new Relay()
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, async () => {
      await Promise.race([stopGate(directory), delay(endMs)])
      process.exit(0)
    })

  /** @returns undefined when this process could not become the gate, for example on a full disk */
  async function tryStartGate(): Promise<RunningGate | undefined> {
    await killHalfStarted(directory)
    try {
      return await RunningGate.start({ directory, code, relay, onDrained: () => undefined })
    } catch (error) {
      report(error)
      return undefined
    }
  }

  /** Waits here for ports that are still taken: the successor gets only those that listen. */
  async function handOver(gate: RunningGate, pause: number): Promise<void> {
    await Promise.all([gate.reserved, delay(pause)])
    for (let failures = 1; ; failures += 1) {
      const { entry, node } = latestCode(directory, builtIn)
      try {
        // An agent may have made it hand over before, which has the same result.
        await gate.handOver(entry, node)
        return
      } catch (error) {
        report(error)
      }
      await delay(pauseAfter(failures + 1))
    }
  }

  let hasAnswered = false
  let quickEnds = 0
  for (;;) {
    const found = await reachGate(directory)
    // The directory may be about to be removed too: nothing more is written to it.
    if (found === 'none' && hasAnswered) process.exit(0)
    if (!existsSync(directory) || !claimParent(directory)) process.exit(0)
    const answeredAt = performance.now()
    if (typeof found !== 'string') {
      hasAnswered = true
      // The parent needs no data from the gate, but without reading it would not notice the end.
      found.resume()
      await closed(found)
      quickEnds = performance.now() - answeredAt < quickMs ? quickEnds + 1 : 0
      continue
    }
    const gate = await tryStartGate()
    if (gate) {
      hasAnswered = true
      await handOver(gate, pauseAfter(quickEnds))
      continue
    }
    quickEnds += 1
    if (!hasAnswered && quickEnds >= attemptsMax) {
      report('the gate could not be started: its parent gives up')
      process.exit(1)
    }
    await delay(pauseAfter(quickEnds))
  }
}

/** The first restart has no delay. */
function pauseAfter(quickEnds: number): number {
  return quickEnds > 1 ? Math.min(pauseMaxMs, firstPauseMs * 2 ** (quickEnds - 2)) : 0
}

/**
 * A gate that was killed in the middle of a handover leaves a successor that has its listening sockets, and that ends, or becomes the gate,
 * a moment later. The result cannot be known in advance, and two gates must never run.
 */
async function killHalfStarted(directory: string): Promise<void> {
  for (const end = performance.now() + endMs; performance.now() < end; await delay(1)) {
    const pid = findProcess(directory, 'successor')
    if (pid === undefined) return
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has just ended by itself.
    }
  }
}

/** The gate may be handing over when it receives the stop request: then the successor is stopped. */
async function stopGate(directory: string): Promise<void> {
  for (;;) {
    const gate = await reachGate(directory)
    if (typeof gate === 'string') return
    gate.write(`${JSON.stringify({ id: 1, kind: 'stop', keepPorts: true })}\n`)
    gate.resume()
    await closed(gate)
  }
}

/** A gate that is killed may also reset the connection. */
function closed(gate: Socket): Promise<void> {
  return new Promise((resolve) => gate.once('close', () => resolve()))
}

/**
 * An agent that starts or hands over to a gate writes to `entry` the code, and outside of a container the Node, that the next one must use:
 * an update may have removed those that this process was started from.
 */
function latestCode(directory: string, builtIn: string): { entry: string; node: string } {
  const own = { entry: builtIn, node: process.execPath }
  try {
    const [name = '', node = ''] = readFileSync(join(directory, 'entry'), 'utf8').trim().split('\n')
    const entry = isAbsolute(name) ? name : join(directory, name)
    return name !== '' && existsSync(entry) ? { entry, node: existsSync(node) ? node : own.node } : own
  } catch {
    return own
  }
}

import { type ChildProcess, spawn } from 'node:child_process'
import { Server } from 'node:net'
import { forgetSuccessor, roleFlags, writeSuccessor } from './pid-files.ts'
import type { GatePort } from './protocol.ts'

/**
 * Messages between a gate and its successor: first every listening socket with its entry, then how many there were. The successor sends
 * `ready` when it accepts on all of them, and from then on asks which connections its predecessor still drains.
 */
export type HandoverMessage =
  | { kind: 'port'; entry: GatePort }
  | { kind: 'all'; count: number }
  | { kind: 'drain'; id: number; container: string; ms: number }
  | { kind: 'count'; id: number }
export type Reply = { kind: 'ready' } | { kind: 'left'; id: number; left: number }

const readyMs = 15_000

/**
 * @returns the successor, which accepts on everything now. @throws when it cannot be started or does not answer in time: nothing has
 *   changed then
 */
export async function startSuccessor(
  node: string,
  entry: string,
  directory: string,
  listening: readonly { entry: GatePort; server: Server }[],
): Promise<ChildProcess> {
  const child = spawn(node, [entry, directory, roleFlags.successor], {
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  try {
    if (child.pid !== undefined) writeSuccessor(directory, child.pid)
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('the new gate did not answer in time')), readyMs)
      const complete = (finish: () => void) => () => {
        clearTimeout(timer)
        finish()
      }
      child.once('error', (error) => complete(() => reject(error))())
      child.once(
        'exit',
        complete(() => reject(new Error('the new gate ended at once'))),
      )
      child.on('message', (reply: Reply) => {
        if (reply.kind === 'ready') complete(resolve)()
      })
      for (const { entry: port, server } of listening)
        child.send({ kind: 'port', entry: port } satisfies HandoverMessage, server)
      child.send({ kind: 'all', count: listening.length } satisfies HandoverMessage)
    })
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  } finally {
    forgetSuccessor(directory, child.pid)
  }
  return child
}

/** The predecessor as its successor sees it: its connections count as the successor's own until it has ended. */
export interface Predecessor {
  /** Takes over every listening socket, then confirms that. */
  takeOver(adopt: (entry: GatePort, server: Server) => void, ready: () => Promise<void>): Promise<void>
  drained(container: string, ms: number): Promise<number>
  count(): Promise<number>
  onEnd(listener: () => void): void
}

export function connectPredecessor(): Predecessor {
  let next = 0
  const asked = new Map<number, (left: number) => void>()
  process.on('disconnect', () => {
    for (const answer of asked.values()) answer(0)
    asked.clear()
  })
  const send = (reply: HandoverMessage | Reply) => process.send?.(reply, undefined, undefined, () => undefined)
  const ask = (make: (id: number) => HandoverMessage): Promise<number> =>
    new Promise((resolve) => {
      if (!process.connected) return resolve(0)
      next += 1
      asked.set(next, resolve)
      send(make(next))
    })
  return {
    takeOver: (adopt, ready) =>
      new Promise((resolve, reject) => {
        let adopted = 0
        const lost = () => reject(new Error('the previous gate ended before it had handed over'))
        // The predecessor may have ended while this process was still loading its code: no later event reports that.
        if (!process.connected) return lost()
        process.once('disconnect', lost)
        process.on('message', (message: HandoverMessage | Reply, server) => {
          if (message.kind === 'left') {
            asked.get(message.id)?.(message.left)
            asked.delete(message.id)
          } else if (message.kind === 'port' && server instanceof Server) {
            adopt(message.entry, server)
            adopted += 1
          } else if (message.kind === 'all') {
            if (adopted !== message.count)
              return reject(new Error(`only ${adopted} of ${message.count} sockets were handed over`))
            ready().then(() => {
              send({ kind: 'ready' })
              resolve()
            }, reject)
          }
        })
      }),
    drained: (container, ms) => ask((id) => ({ kind: 'drain', id, container, ms })),
    count: () => ask((id) => ({ kind: 'count', id })),
    onEnd: (listener) => {
      process.on('disconnect', listener)
      if (!process.connected) listener()
    },
  }
}

import { connect, type Socket } from 'node:net'
import { guarded } from '@crux/service-kit'
import { type GateAnswer, type GateRequest, handedOverCode, lineReader } from './relay/protocol.ts'
import { socketPath } from './relay/socket-path.ts'

/** One connection to a gate's control socket. */
export interface GateClient {
  /** Rejects with GateGone when the gate ends before it has answered. */
  ask(request: GateRequest): Promise<GateAnswer>
  /** @param listener called with whether a successor answers already */
  onEnd(listener: (handedOver: boolean) => void): void
  close(): void
}

/** The gate has ended or handed over: callers connect again and repeat the request, which is safe for every request. */
export class GateGone extends Error {
  override name = 'GateGone'
}

/** @returns undefined when no gate listens in the directory */
export function connectGate(directory: string): Promise<GateClient | undefined> {
  return new Promise((resolve) => {
    let socket: Socket
    try {
      socket = connect(socketPath(directory))
    } catch {
      return resolve(undefined)
    }
    socket.once('error', () => resolve(undefined))
    socket.once(
      'connect',
      guarded('connecting to the gate', () => resolve(makeClient(socket))),
    )
  })
}

function makeClient(socket: Socket): GateClient {
  let next = 0
  let handedOver = false
  const asked = new Map<number, { resolve: (answer: GateAnswer) => void; reject: (error: Error) => void }>()
  const read = lineReader(
    (line) => {
      const { id, ...answer }: GateAnswer & { id: number } = JSON.parse(line)
      const waiting = asked.get(id)
      asked.delete(id)
      if (!answer.ok && answer.code === handedOverCode) {
        handedOver = true
        waiting?.reject(new GateGone(answer.message))
      } else waiting?.resolve(answer)
    },
    () => socket.destroy(),
  )
  socket.on(
    'data',
    guarded('an answer of the gate', (chunk: Buffer) => {
      try {
        read(chunk)
      } catch (error) {
        // A peer that does not speak this protocol is no gate: callers that wait for it must not wait forever.
        socket.destroy()
        throw error
      }
    }),
  )
  socket.on('error', () => undefined)
  socket.on(
    'close',
    guarded('the end of the gate', () => {
      for (const { reject } of asked.values()) reject(new GateGone('the gate ended before it had answered'))
      asked.clear()
    }),
  )
  // The link keeps the agent alive, not this socket.
  socket.unref()
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed || !socket.writable) return reject(new GateGone('the gate has ended'))
        next += 1
        asked.set(next, { resolve, reject })
        socket.write(`${JSON.stringify({ id: next, ...request })}\n`)
      }),
    onEnd(listener) {
      socket.on(
        'close',
        guarded('the end of the gate', () => listener(handedOver)),
      )
    },
    close: () => socket.destroy(),
  }
}

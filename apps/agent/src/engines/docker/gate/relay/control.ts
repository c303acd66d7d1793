import { renameSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { type GateAnswer, type GateRequest, handedOverCode, lineReader } from './protocol.ts'
import { getMessage } from './report.ts'
import { socketPath } from './socket-path.ts'

/** Listens for the agent. A line `{id, ...request}` is answered by one with the same id; answers may overtake each other. */
export async function listenForAgent(
  directory: string,
  answer: (request: GateRequest) => Promise<GateAnswer>,
): Promise<{ handOver(): void }> {
  const agents = new Set<Socket>()
  const server = createServer((agent) => {
    agents.add(agent)
    agent.on('error', () => undefined)
    agent.on('close', () => agents.delete(agent))
    const read = lineReader(
      (line) => void respond(agent, line),
      () => agent.destroy(),
    )
    agent.on('data', read)
  })

  async function respond(agent: Socket, line: string): Promise<void> {
    let id: unknown
    let result: GateAnswer
    try {
      const request: GateRequest & { id: unknown } = JSON.parse(line)
      id = request.id
      result = await answer(request)
    } catch (error) {
      result = { ok: false, code: '', message: getMessage(error) }
    }
    if (agent.writable) agent.write(`${JSON.stringify({ id, ...result })}\n`)
  }

  // The socket first has a name of its own: a rename then replaces that of a predecessor or of a dead gate in one step.
  const own = `control.${process.pid}.sock`
  await listening(server, socketPath(directory, own))
  renameSync(join(directory, own), join(directory, 'control.sock'))
  return {
    handOver() {
      server.close()
      // Answers that were sent are still delivered.
      const last = `${JSON.stringify({ id: 0, ok: false, code: handedOverCode, message: 'this gate has handed over' })}\n`
      for (const agent of agents) agent.end(last)
    },
  }
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
}

/** @returns `none` without a control socket, `dead` when no process listens behind it */
export function reachGate(directory: string): Promise<Socket | 'none' | 'dead'> {
  return new Promise((resolve) => {
    let path: string
    try {
      path = socketPath(directory)
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

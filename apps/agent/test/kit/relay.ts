import { type ChildProcess, spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connectGate } from '../../src/engines/docker/gate/client.ts'
import type { GateAnswer, GateHello, GatePort, GateRequest } from '../../src/engines/docker/gate/relay/protocol.ts'
import { waitUntil } from './wait-until.ts'

export const gateMain = fileURLToPath(new URL('../../src/engines/docker/gate/relay/main.ts', import.meta.url))

/** A gate process by itself, without an agent and without an engine. */
export interface TestGate {
  directory: string
  ask(request: GateRequest): Promise<GateAnswer>
  hello(): Promise<GateHello>
  /** Holds a port and routes it to a port of this machine. */
  lead(port: number, containerPort: number, more?: Partial<GatePort>): Promise<GateAnswer>
  handOver(): Promise<void>
  kill(): Promise<void>
  start(): Promise<void>
  openSockets(): Promise<number>
  residentMegabytes(): Promise<number>
  dispose(): Promise<void>
}

export async function startTestGate(options: { deep?: boolean } = {}): Promise<TestGate> {
  const root = await mkdtemp(join(tmpdir(), 'crux-gate-'))
  const directory = options.deep ? join(root, 'a-folder-with-a-long-name/'.repeat(6)) : root
  await mkdir(directory, { recursive: true })
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    child = spawn(process.execPath, [gateMain, directory], { stdio: ['ignore', 'inherit', 'inherit'], detached: true })
    await waitUntil('the gate answers', async () => {
      const gate = await connectGate(directory)
      gate?.close()
      return gate !== undefined
    })
  }
  async function ask(request: GateRequest): Promise<GateAnswer> {
    const gate = await connectGate(directory)
    if (!gate) throw new Error('no gate runs')
    return gate.ask(request).finally(() => gate.close())
  }
  async function hello(): Promise<GateHello> {
    const answer = await ask({ kind: 'hello' })
    if (!answer.ok || !answer.hello) throw new Error('the gate does not describe itself')
    return answer.hello
  }
  await start()
  return {
    directory,
    ask,
    hello,
    start,
    lead: (port, containerPort, more) =>
      ask({
        kind: 'apply',
        open: [
          { port, address: '', container: 'c', target: '127.0.0.1', containerPort, proxy: '', prefix: 'p', ...more },
        ],
        close: [],
      }),
    async handOver() {
      const answer = await ask({ kind: 'handover', entry: gateMain })
      if (!answer.ok) throw new Error(answer.message)
    },
    async kill() {
      process.kill((await hello()).pid, 'SIGKILL')
      await waitUntil('the gate is gone', async () => !(await connectGate(directory)))
    },
    async openSockets() {
      return (await readdir(`/proc/${(await hello()).pid}/fd`)).length
    },
    async residentMegabytes() {
      const status = await readFile(`/proc/${(await hello()).pid}/status`, 'utf8')
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024
    },
    async dispose() {
      await ask({ kind: 'stop' }).catch(() => child?.kill('SIGKILL'))
      await rm(root, { recursive: true, force: true })
    },
  }
}

/** Sends one request over a connection of its own. */
export function askPort(port: number, host = '127.0.0.1'): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host, port, agent: false }, (response) => {
      let text = ''
      response.on('data', (chunk) => (text += chunk))
      response.on('end', () => resolve(text.trim()))
      response.on('error', reject)
    }).on('error', reject)
  })
}

/** Sends requests without a delay over new connections until `stop`, and counts them. */
export function loadPort(port: number, loops = 4) {
  const seen: Record<string, number> = {}
  const bad: string[] = []
  let going = true
  const all = Array.from({ length: loops }, async () => {
    while (going) {
      await askPort(port).then(
        (text) => {
          seen[text] = (seen[text] ?? 0) + 1
        },
        (error) => bad.push(error.code ?? error.message),
      )
    }
  })
  return {
    seen,
    bad,
    total: () => Object.values(seen).reduce((sum, count) => sum + count, 0) + bad.length,
    async stop() {
      going = false
      await Promise.all(all)
    },
  }
}

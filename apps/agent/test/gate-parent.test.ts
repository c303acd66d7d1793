import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { connectGate } from '../src/gate/client.ts'
import type { GateRequest } from '../src/gate/relay/protocol.ts'
import { askPort, gateMain, waitUntil } from './kit/index.ts'

let service: Server
let folder: string
let port: number
let parents: ChildProcess[]
beforeAll(async () => {
  service = createServer((_, response) => response.end('service')).listen(0, '127.0.0.1')
  await once(service, 'listening')
})
afterAll(() => service.close())
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crux-gate-'))
  port = await freePort()
  parents = []
  startParent()
  await waitUntil('the gate answers', findGate)
  await ask({
    kind: 'apply',
    open: [
      {
        port,
        address: '',
        container: 'c',
        target: '127.0.0.1',
        containerPort: (service.address() as AddressInfo).port,
        proxy: '',
        prefix: 'p',
      },
    ],
    close: [],
  })
  expect(await askPort(port)).toBe('service')
})
afterEach(async () => {
  await ask({ kind: 'stop' }).catch(() => undefined)
  for (const parent of parents) parent.kill('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

function startParent(): ChildProcess {
  const parent = spawn(process.execPath, [gateMain, folder, '--parent'], { stdio: ['ignore', 'inherit', 'inherit'] })
  parents.push(parent)
  return parent
}
async function ask(request: GateRequest) {
  const gate = await connectGate(folder)
  if (!gate) throw new Error('no gate runs')
  return gate.ask(request).finally(() => gate.close())
}
const findGate = async () => {
  const answer = await ask({ kind: 'hello' }).catch(() => undefined)
  return answer?.ok ? answer.hello : undefined
}
const gatePid = async () => (await waitUntil('the gate answers', findGate)).pid
const killGate = async () => {
  const pid = await gatePid()
  process.kill(pid, 'SIGKILL')
  return pid
}
const answers = () => askPort(port).catch(() => undefined)
const isRunning = (pid: number) => existsSync(`/proc/${pid}/exe`)
const hasEnded = (parent: ChildProcess | undefined) => parent?.exitCode !== null || parent.signalCode !== null

test('a killed gate is started again with its ports, again and again, while no agent runs', async () => {
  for (let round = 0; round < 4; round += 1) {
    const killed = await killGate()
    expect(await waitUntil('the port answers again', answers)).toBe('service')
    expect(await gatePid()).not.toBe(killed)
  }
  expect((await stat(join(folder, 'parent.pid'))).mode & 0o777).toBe(0o600)
})

test('a successor that is killed is started again while its predecessor still has a connection', async () => {
  const client = connect(port, '127.0.0.1')
  client.on('error', () => undefined)
  await once(client, 'connect')
  await waitUntil('the gate counts the connection', async () => (await findGate())?.connections === 1)
  const predecessor = await gatePid()
  expect(await ask({ kind: 'handover', entry: gateMain })).toMatchObject({ ok: true })
  await waitUntil('the successor answers', async () => (await gatePid()) !== predecessor)
  const successor = await killGate()
  expect(await waitUntil('the port answers again', answers)).toBe('service')
  expect([predecessor, successor]).not.toContain(await gatePid())
  expect(isRunning(predecessor)).toBe(true)
  expect(client.destroyed).toBe(false)
  client.destroy()
})

test('the next gate is started from the code and the Node that an agent named last', async () => {
  const copy = join(folder, 'newer.ts')
  await writeFile(copy, `process.title = 'newer'\nawait import(${JSON.stringify(gateMain)})\n`)
  await writeFile(join(folder, 'entry'), `${copy}\n/nowhere/node\n`)
  await killGate()
  expect(await waitUntil('the port answers again', answers)).toBe('service')
  expect(await readFile(`/proc/${await gatePid()}/comm`, 'utf8')).toBe('newer\n')
})

test('a gate that is told to stop or to terminate takes its parent along and starts no more', async () => {
  await ask({ kind: 'stop' })
  await waitUntil('the parent has ended', () => hasEnded(parents[0]))
  expect(parents[0]?.exitCode).toBe(0)
  await expect(askPort(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  expect(JSON.parse(await readFile(join(folder, 'ports.json'), 'utf8')).ports).toEqual([])

  const second = startParent()
  process.kill(await gatePid(), 'SIGTERM')
  await waitUntil('the parent has ended', () => hasEnded(second))
  expect(await findGate()).toBeUndefined()
})

test('a parent that is told to terminate ends its gate, and the next one holds the ports again', async () => {
  const pid = await gatePid()
  parents[0]?.kill('SIGTERM')
  await waitUntil('the gate has ended', () => hasEnded(parents[0]) && !isRunning(pid))
  await expect(askPort(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  startParent()
  expect(await waitUntil('the port answers again', answers)).toBe('service')
})

test('a gate goes on when its parent is killed, and another parent takes it over', async () => {
  const pid = await gatePid()
  parents[0]?.kill('SIGKILL')
  await waitUntil('the parent has ended', () => hasEnded(parents[0]))
  expect(await askPort(port)).toBe('service')
  const next = startParent()
  const named = async () => Number(await readFile(join(folder, 'parent.pid'), 'utf8')) === next.pid
  await waitUntil('the next one is the parent', named)
  expect(await gatePid()).toBe(pid)
  await killGate()
  expect(await waitUntil('the port answers again', answers)).toBe('service')
})

test('of parents that are started at once one stays, also where the previous one was killed', async () => {
  parents[0]?.kill('SIGKILL')
  const started = [startParent(), startParent(), startParent()]
  await waitUntil('two of them have ended', () => started.filter(hasEnded).length === 2)
  const before = await gatePid()
  await killGate()
  expect(await waitUntil('the port answers again', answers)).toBe('service')
  expect(await gatePid()).not.toBe(before)
  expect(started.filter(hasEnded)).toHaveLength(2)
})

test('a parent whose folder is removed ends when its gate does', async () => {
  const pid = await gatePid()
  await rm(folder, { recursive: true })
  process.kill(pid, 'SIGKILL')
  await waitUntil('the parent has ended', () => hasEnded(parents[0]))
  expect(parents[0]?.exitCode).toBe(0)
})

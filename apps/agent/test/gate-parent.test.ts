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
import { findProcess } from '../src/engines/docker/gate/relay/pid-files.ts'
import type { GateRequest } from '../src/engines/docker/gate/relay/protocol.ts'
import { askGate, askPort, gateMain, waitUntil } from './kit/index.ts'

let service: Server
let directory: string
let port: number
let parents: ChildProcess[]
beforeAll(async () => {
  service = createServer((_, response) => response.end('service')).listen(0, '127.0.0.1')
  await once(service, 'listening')
})
afterAll(() => service.close())
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crux-gate-'))
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
  await separateGate()
  expect(await askPort(port)).toBe('service')
})
afterEach(async () => {
  await ask({ kind: 'stop' })
  for (const parent of parents) parent.kill('SIGKILL')
  await waitUntil('no parent is left', () => findProcess(directory, 'parent') === undefined)
  await rm(directory, { recursive: true, force: true })
})

function startParent(): ChildProcess {
  const parent = spawn(process.execPath, [gateMain, directory, '--parent'], { stdio: ['ignore', 'inherit', 'inherit'] })
  parents.push(parent)
  return parent
}
const ask = (request: GateRequest) => askGate(directory, request)
const findGate = async () => {
  const answer = await ask({ kind: 'hello' })
  return answer?.ok ? answer.hello : undefined
}
/** Code that the next gate runs before its own. */
const writeEntry = async (before: string, node = '') => {
  const path = join(directory, 'before.ts')
  await writeFile(path, `${before}\nawait import(${JSON.stringify(gateMain)})\nexport {}\n`)
  await writeFile(join(directory, 'entry'), `${path}\n${node}\n`)
}
const gatePid = async () => (await waitUntil('the gate answers', findGate)).pid
/** For some moments after an end the parent itself is the gate. */
const separateGate = () =>
  waitUntil('the gate is a process of its own', async () => {
    const pid = await gatePid()
    return pid !== findProcess(directory, 'parent') && pid
  })
const killGate = async () => {
  const pid = await separateGate()
  process.kill(pid, 'SIGKILL')
  return pid
}
const answers = () => askPort(port).catch(() => undefined)
const isRunning = (pid: number) => existsSync(`/proc/${pid}/exe`)
const hasEnded = (parent: ChildProcess | undefined) => parent?.exitCode !== null || parent.signalCode !== null

test('a killed gate is restarted with its ports repeatedly while no agent runs', async () => {
  for (let round = 0; round < 4; round += 1) {
    const killed = await killGate()
    expect(await waitUntil('the port answers again', answers)).toBe('service')
    expect(await gatePid()).not.toBe(killed)
  }
  expect((await stat(join(directory, 'parent.pid'))).mode & 0o777).toBe(0o600)
})

test('a killed successor is restarted while its predecessor still has a connection', async () => {
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
  await writeEntry("process.title = 'newer'", '/nowhere/node')
  await killGate()
  expect(await waitUntil('the port answers again', answers)).toBe('service')
  await waitUntil(
    'the new gate runs',
    async () => (await readFile(`/proc/${await gatePid()}/comm`, 'utf8')) === 'newer\n',
  )
})

test('a parent is the gate itself while no new one can be started and hands over with open connections when one can', async () => {
  await writeEntry('process.exit(1)')
  await killGate()
  expect(await waitUntil('the port answers again', answers)).toBe('service')
  expect(await gatePid()).toBe(parents[0]?.pid)
  const client = connect(port, '127.0.0.1')
  client.on('error', () => undefined)
  await once(client, 'connect')
  await waitUntil('the gate counts the connection', async () => (await findGate())?.connections === 1)
  await rm(join(directory, 'entry'))
  await waitUntil('there is a new gate', async () => (await gatePid()) !== parents[0]?.pid)
  expect(await findGate()).toMatchObject({ ports: [{ port }], connections: 1 })
  expect(await askPort(port)).toBe('service')
  expect(client.destroyed).toBe(false)
  client.destroy()
  await waitUntil('the new gate counts no connection', async () => (await findGate())?.connections === 0)
})

test('a parent that is killed while it is the gate leaves the port to the gate that it was starting', async () => {
  const started = join(directory, 'started')
  await writeEntry(
    `(await import('node:fs')).writeFileSync(${JSON.stringify(started)}, String(process.pid)); await new Promise((resolve) => setTimeout(resolve, 2_000))`,
  )
  await killGate()
  await waitUntil('a gate is being started', () => existsSync(started))
  expect(await gatePid()).toBe(parents[0]?.pid)
  parents[0]?.kill('SIGKILL')
  expect(await waitUntil('the port answers again', answers)).toBe('service')
  expect(findProcess(directory, 'parent')).not.toBe(parents[0]?.pid)
  await killGate()
  expect(await waitUntil('the port answers again', answers)).toBe('service')
})

test('a gate that is killed in the middle of a handover ends its half-started successor', async () => {
  const started = join(directory, 'started')
  const slow = join(directory, 'slow.ts')
  await writeFile(
    slow,
    `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(started)}, String(process.pid))\nsetInterval(() => undefined, 1_000)\n`,
  )
  const handover = ask({ kind: 'handover', entry: slow }).catch(() => undefined)
  const successor = await waitUntil('it is being started', async () =>
    Number(await readFile(started, 'utf8').catch(() => '')),
  )
  await killGate()
  expect(await waitUntil('the port answers again', answers)).toBe('service')
  await waitUntil('the successor is gone', () => !isRunning(successor))
  await handover
  expect(await findGate()).toMatchObject({ ports: [{ port }] })
})

test('a gate that is stopped or terminated ends its parent, which starts no other gate', async () => {
  await ask({ kind: 'stop' })
  await waitUntil('the parent has ended', () => hasEnded(parents[0]))
  expect(parents[0]?.exitCode).toBe(0)
  await expect(askPort(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  expect(JSON.parse(await readFile(join(directory, 'ports.json'), 'utf8')).ports).toEqual([])

  const second = startParent()
  process.kill(await gatePid(), 'SIGTERM')
  await waitUntil('the parent has ended', () => hasEnded(second))
  expect(await findGate()).toBeUndefined()
})

test('a parent that is terminated ends its gate and the next one holds the ports again', async () => {
  const pid = await gatePid()
  parents[0]?.kill('SIGTERM')
  await waitUntil('the gate has ended', () => hasEnded(parents[0]) && !isRunning(pid))
  await expect(askPort(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  startParent()
  expect(await waitUntil('the port answers again', answers)).toBe('service')
})

test('a gate continues when its parent is killed and another parent takes it over', async () => {
  const pid = await gatePid()
  parents[0]?.kill('SIGKILL')
  await waitUntil('the parent has ended', () => hasEnded(parents[0]))
  expect(await askPort(port)).toBe('service')
  const next = startParent()
  await waitUntil('the next one is the parent', () => findProcess(directory, 'parent') === next.pid)
  expect(await gatePid()).toBe(pid)
  await killGate()
  expect(await waitUntil('the port answers again', answers)).toBe('service')
})

test('one of several parents that are started at once stays also where the previous one was killed', async () => {
  parents[0]?.kill('SIGKILL')
  const started = [startParent(), startParent(), startParent()]
  await waitUntil('two of them have ended', () => started.filter(hasEnded).length === 2)
  const killed = await killGate()
  expect(await waitUntil('the port answers again', answers)).toBe('service')
  expect(await gatePid()).not.toBe(killed)
  expect(started.filter(hasEnded)).toHaveLength(2)
})

test('a parent whose directory is removed ends when its gate does', async () => {
  const pid = await gatePid()
  await rm(directory, { recursive: true })
  process.kill(pid, 'SIGKILL')
  await waitUntil('the parent has ended', () => hasEnded(parents[0]))
  expect(parents[0]?.exitCode).toBe(0)
})

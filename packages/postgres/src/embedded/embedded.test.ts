import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@crux/service-kit'
import { Client } from 'pg'
import { afterEach, describe, expect, test } from 'vitest'
import { claimOwnership, OwnedError } from './ownership.ts'
import { getStartTime, isAlive, waitUntil } from './processes.ts'
import { type Embedded, removeEmbedded, startEmbedded } from './supervisor.ts'

const log = createLogger({ name: 'test', level: 'silent' })
const isRoot = process.getuid?.() === 0
const directories: string[] = []
const running: (Embedded | ChildProcess)[] = []

afterEach(async () => {
  for (const entry of running.splice(0)) {
    if ('stop' in entry) await entry.stop()
    else entry.kill('SIGKILL')
  }
  for (const dataDir of directories.splice(0)) {
    removeEmbedded({ dataDir })
    rmSync(dataDir, { recursive: true, force: true })
  }
})

function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'embedded-'))
  directories.push(directory)
  return directory
}

async function start(dataDir: string): Promise<Embedded> {
  const embedded = await startEmbedded({ dataDir, log })
  running.push(embedded)
  return embedded
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

async function killAndWait(owner: ChildProcess): Promise<void> {
  const exited = once(owner, 'exit')
  owner.kill('SIGKILL')
  await exited
}

/** Starts another process that owns the cluster and can be killed. */
async function startElsewhere(dataDir: string): Promise<{ owner: ChildProcess; url: string; postmaster: number }> {
  const code = `
    const { startEmbedded } = await import(${JSON.stringify(new URL('./supervisor.ts', import.meta.url).href)})
    const { createLogger } = await import('@crux/service-kit')
    const embedded = await startEmbedded({ dataDir: ${JSON.stringify(dataDir)}, log: createLogger({ name: 'x', level: 'silent' }) })
    console.log(JSON.stringify({ url: embedded.url, postmaster: embedded.pid() }))
    setInterval(() => {}, 1000)`
  const owner = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: import.meta.dirname,
  })
  running.push(owner)
  const [line] = (await once(owner.stdout as NodeJS.ReadableStream, 'data')) as [Buffer]
  return { owner, ...(JSON.parse(line.toString()) as { url: string; postmaster: number }) }
}

describe('startEmbedded', () => {
  test('keeps stored data and its address after a stop', async () => {
    const dataDir = makeDirectory()
    const first = await start(dataDir)
    await query(first.url, 'create table kept as select 42 as n')
    await first.stop()
    const second = await start(dataDir)
    expect(second.url).toBe(first.url)
    expect(await query(second.url, 'select n from kept')).toEqual([{ n: 42 }])
  })

  test('listens on loopback only and requires the generated password', async () => {
    const dataDir = makeDirectory()
    const { url } = await start(dataDir)
    expect(await query(url, 'show listen_addresses')).toEqual([{ listen_addresses: '127.0.0.1' }])
    expect(await query(url, 'show unix_socket_directories')).toEqual([{ unix_socket_directories: '' }])
    const wrong = new URL(url)
    wrong.password = 'guess'
    await expect(query(wrong.href, 'select 1')).rejects.toThrow(/password authentication failed/)
    expect(statSync(join(dataDir, 'secrets/postgres-password')).mode & 0o777).toBe(0o600)
  })

  test.runIf(isRoot)('runs as an unprivileged user when the caller is root', async () => {
    const embedded = await start(makeDirectory())
    const status = readFileSync(`/proc/${embedded.pid()}/status`, 'utf8')
    expect(Number(/^Uid:\s+(\d+)/m.exec(status)?.[1])).toBeGreaterThan(0)
  })

  test('refuses a second owner with an error that names the first one', async () => {
    const dataDir = makeDirectory()
    await start(dataDir)
    await expect(startEmbedded({ dataDir, log })).rejects.toThrow(`in use by process ${process.pid}`)
    const other = makeDirectory()
    const { owner } = await startElsewhere(other)
    await expect(startEmbedded({ dataDir: other, log })).rejects.toThrow(`in use by process ${owner.pid}`)
  })

  test('restarts the postmaster after a kill, without data loss', async () => {
    const embedded = await start(makeDirectory())
    await query(embedded.url, 'create table kept as select 1 as n')
    const pid = embedded.pid() as number
    process.kill(pid, 'SIGKILL')
    await expect
      .poll(() => query(embedded.url, 'select n from kept').catch(() => undefined), { timeout: 15_000 })
      .toEqual([{ n: 1 }])
    expect(embedded.pid()).not.toBe(pid)
  })

  test('ends with its owner, and the next start recovers without repair', async () => {
    const dataDir = makeDirectory()
    const { owner, url, postmaster } = await startElsewhere(dataDir)
    await query(url, 'create table kept as select 1 as n')
    await killAndWait(owner)
    const next = await start(dataDir)
    expect(isAlive(postmaster)).toBe(false)
    expect(await query(next.url, 'select n from kept')).toEqual([{ n: 1 }])
  })

  test('recovers when owner and postmaster are killed at the same moment', async () => {
    const dataDir = makeDirectory()
    const { owner, url, postmaster } = await startElsewhere(dataDir)
    await query(url, 'create table kept as select 1 as n')
    process.kill(postmaster, 'SIGKILL')
    await killAndWait(owner)
    const next = await start(dataDir)
    expect(await query(next.url, 'select n from kept')).toEqual([{ n: 1 }])
  })

  test('restarts the creation of a cluster that was killed', async () => {
    const dataDir = makeDirectory()
    mkdirSync(join(dataDir, 'postgres/data.part'), { recursive: true })
    const embedded = await start(dataDir)
    expect(await query(embedded.url, 'select 1 as n')).toEqual([{ n: 1 }])
  })

  test.runIf(isRoot)(
    'uses another location if its user cannot enter the directory, changes no parent directory, and stays with a moved directory',
    async () => {
      const closed = makeDirectory()
      const dataDir = join(closed, 'data')
      directories.push(dataDir)
      const first = await start(dataDir)
      await query(first.url, 'create table kept as select 1 as n')
      await first.stop()
      expect(statSync(closed).mode & 0o777).toBe(0o700)
      expect(existsSync(join(dataDir, 'postgres'))).toBe(false)
      const moved = join(closed, 'moved')
      directories.push(moved)
      renameSync(dataDir, moved)
      const second = await start(moved)
      expect(await query(second.url, 'select n from kept')).toEqual([{ n: 1 }])
    },
  )

  test.runIf(isRoot)('moves a cluster whose directory was moved to a location that its user cannot enter', async () => {
    const open = mkdtempSync(join('/var/tmp', 'embedded-'))
    directories.push(open)
    const dataDir = join(open, 'data')
    // This is the usual mode of a user's directory; mkdtemp creates private ones.
    cpSync('/etc/hostname', join(open, 'x'))
    const { chmodSync } = await import('node:fs')
    chmodSync(open, 0o755)
    const first = await start(dataDir)
    await query(first.url, 'create table kept as select 1 as n')
    await first.stop()
    expect(existsSync(join(dataDir, 'postgres/data'))).toBe(true)
    const closed = join(makeDirectory(), 'data')
    directories.unshift(closed)
    renameSync(dataDir, closed)
    const second = await start(closed)
    expect(await query(second.url, 'select n from kept')).toEqual([{ n: 1 }])
    expect(existsSync(join(closed, 'postgres'))).toBe(false)
  })
})

describe('claimOwnership', () => {
  test('takes over from a dead process and from a reused process id, but not from a running process', async () => {
    const file = join(makeDirectory(), 'owner')
    const sleeper = spawn('sleep', ['60'])
    running.push(sleeper)
    const claimAs = (pid: number, startTime: string | undefined) => {
      rmSync(file, { force: true })
      const own = claimOwnership({ file, what: 'it' })
      own.release()
      mkdirSync(join(file, '..'), { recursive: true })
      return import('node:fs').then(({ writeFileSync }) => writeFileSync(file, JSON.stringify({ pid, startTime })))
    }
    const pid = sleeper.pid as number
    await claimAs(pid, getStartTime(pid))
    expect(() => claimOwnership({ file, what: 'it' })).toThrow(OwnedError)
    await claimAs(pid, '1')
    claimOwnership({ file, what: 'it' }).release()
    await claimAs(pid, getStartTime(pid))
    sleeper.kill('SIGKILL')
    expect(await waitUntil(() => !isAlive(pid), 5_000)).toBe(true)
    claimOwnership({ file, what: 'it' }).release()
    expect(existsSync(file)).toBe(false)
  })
})

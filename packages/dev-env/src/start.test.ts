import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive, openDatabase, removeEmbedded, waitUntil } from '@crux/postgres'
import { afterEach, expect, test } from 'vitest'
import { root } from './files.ts'

// `npm start` itself, as a person runs it, and what kill -9 leaves behind.

interface Started {
  npm: ChildProcess
  output: () => string
}

const dataDir = mkdtempSync(join(tmpdir(), 'start-'))
const ports = await Promise.all([freePort(), freePort(), freePort()])
const started: Started[] = []

afterEach(async () => {
  for (const { npm } of started.splice(0)) npm.kill('SIGTERM')
  await waitUntil(() => processes().length === 0, 30_000)
  removeEmbedded({ dataDir })
  rmSync(dataDir, { recursive: true, force: true })
})

async function start(): Promise<Started> {
  const env = {
    ...process.env,
    CRUX_DATA_DIR: dataDir,
    CRUX_PORT: String(ports[0]),
    IDENTITY_PUBLIC_PORT: String(ports[1]),
    IDENTITY_ADMIN_PORT: String(ports[2]),
  }
  const npm = spawn('npm', ['start', '--', '--no-docker'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [npm.stdout, npm.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk))
  const entry = { npm, output: () => output }
  started.push(entry)
  const ended = once(npm, 'exit').then(() => 'ended')
  const ready = waitUntil(() => /Crux is ready|does not start/.test(output), 120_000)
  await Promise.race([ready, ended])
  return entry
}

/** What runs for this data folder: the scripts, the services, PostgreSQL. */
function processes(): { pid: number; what: string }[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
    .flatMap((pid) => {
      try {
        const mine =
          readFileSync(`/proc/${pid}/environ`, 'utf8').includes(dataDir) ||
          readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(dataDir)
        return mine && isAlive(pid)
          ? [{ pid, what: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ') }]
          : []
      } catch {
        return []
      }
    })
}

const find = (pattern: RegExp) => processes().find(({ what }) => pattern.test(what))?.pid
const query = (sql: string) => {
  const url = readFileSync(join(dataDir, 'secrets/database-url'), 'utf8').trim()
  return runSql(url, sql)
}

test('starts, and survives kill -9 of any process and of all of them', {
  timeout: 300_000,
}, async () => {
  const first = await start()
  expect(first.output()).toMatch(
    /Crux is ready[\s\S]*Console {3}http:\/\/localhost:\d+\n\s+Data {6}.*\n\s+Mail {6}SMTP_URI is not set[^\n]*\n.*\/mails with the token \S+/,
  )
  await query('create table kept as select 42 as n')

  const victims: [string, RegExp][] = [
    ['npm', /^npm start/],
    ['the wrapper', /scripts\/start\.mjs/],
    ['the supervisor', /scripts\/start\.ts/],
  ]
  for (const [name, pattern] of victims) {
    const pid = find(pattern)
    expect(pid, name).toBeDefined()
    process.kill(pid as number, 'SIGKILL')
    const again = await start()
    expect(again.output(), `after kill -9 of ${name}`).toContain('Crux is ready')
  }
  for (const { pid } of processes()) process.kill(pid, 'SIGKILL')
  const last = await start()
  expect(last.output()).toContain('Crux is ready')
  expect(await query('select n from kept')).toContain('42')
})

test('takes CRUX_RATE_LIMITS=off only on loopback, and says so before anything is built', async () => {
  const env = {
    ...process.env,
    CRUX_DATA_DIR: dataDir,
    CRUX_RATE_LIMITS: 'off',
    CRUX_HOST: '0.0.0.0',
    CRUX_URL: 'http://crux.example.com',
  }
  const script = spawn(process.execPath, ['scripts/start.ts'], { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [script.stdout, script.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk))
  const [code] = await once(script, 'exit')
  expect([code, output.trim()]).toEqual([
    1,
    'Crux does not start: CRUX_RATE_LIMITS may be off only while CRUX_HOST and CRUX_URL are on loopback (example: CRUX_RATE_LIMITS=on)',
  ])
})

async function runSql(url: string, sql: string): Promise<string> {
  const database = openDatabase({ url })
  const { rows } = await database.pool.query(sql)
  await database.close()
  return JSON.stringify(rows)
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readlinkSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive, removeEmbedded, waitUntil } from '@crux/postgres'
import { afterEach, expect, test } from 'vitest'
import { root } from '../src/files.ts'
import { freePort, listProcesses, type NpmProcess, queryDatabase, runNpm } from './npm-process.ts'

// Tests `npm start` as users run it, and the recovery after kill -9.

const dataDir = mkdtempSync(join(tmpdir(), 'start-'))
const ports = await Promise.all([freePort(), freePort(), freePort()])
const [port] = ports
const started: NpmProcess[] = []

afterEach(async () => {
  for (const { npm } of started.splice(0)) npm.kill('SIGTERM')
  await waitUntil(() => listProcesses(dataDir).length === 0, 30_000)
  for (const { pid } of listProcesses(dataDir)) process.kill(pid, 'SIGKILL')
  removeEmbedded({ dataDir })
  rmSync(dataDir, { recursive: true, force: true })
})

async function start(...flags: string[]): Promise<NpmProcess> {
  const entry = await runNpm(['start', '--', '--no-docker', ...flags], {
    ...process.env,
    CRUX_DATA_DIR: dataDir,
    CRUX_PORT: String(port),
    IDENTITY_PUBLIC_PORT: String(ports[1]),
    IDENTITY_ADMIN_PORT: String(ports[2]),
  })
  started.push(entry)
  return entry
}

/** The processes that must run exactly once for this data directory. PostgreSQL may run as another user, so it is found by its pid file. */
const scripts = {
  npm: (what: string) => what.startsWith('npm start'),
  'the wrapper': (what: string) => /^node scripts\/start\.mjs/.test(what),
  'the supervisor': (what: string) => what.includes('scripts/start.ts'),
  'the identity service': (what: string, cwd: string) => what.includes('dist/main.js') && cwd.endsWith('apps/identity'),
  'the server': (what: string, cwd: string) => what.includes('dist/main.js') && cwd.endsWith('apps/server'),
}
type Part = keyof typeof scripts | 'PostgreSQL'
type Pids = Record<Part, number>

async function pidsOfAll(): Promise<Pids> {
  const running = listProcesses(dataDir).map(({ pid, what }) => ({ pid, what, cwd: readlinkSync(`/proc/${pid}/cwd`) }))
  const found = Object.entries(scripts).map(([part, isPart]) => {
    const pids = running.filter(({ what, cwd }) => isPart(what, cwd)).map(({ pid }) => pid)
    expect(pids, part).toHaveLength(1)
    return [part, pids[0]] as const
  })
  return { ...Object.fromEntries(found), PostgreSQL: await postgresPid() } as Pids
}

/** The first line of PostgreSQL's pid file. */
async function postgresPid(): Promise<number> {
  const rows = await queryDatabase(dataDir, `select pg_read_file('postmaster.pid') as text`)
  return Number((JSON.parse(rows) as { text: string }[])[0]?.text.split('\n')[0])
}

/** Checks that the console and all services behind it are ready, and that stored data still exists. */
async function expectServing(): Promise<void> {
  const page = await fetch(`http://localhost:${port}/`, { headers: { accept: 'text/html' } })
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<div id="root">')])
  await expect
    .poll(async () => (await fetch(`http://localhost:${port}/health/ready`)).status, { timeout: 60_000 })
    .toBe(200)
  expect(await queryDatabase(dataDir, 'select n from kept')).toBe('[{"n":42}]')
}

test('npm start recovers from kill -9 of any service, starts again after kill -9 of any script or of all processes, and ends with Ctrl-C', {
  timeout: 480_000,
}, async () => {
  const first = await start()
  expect(first.output()).toMatch(
    /Crux is ready[\s\S]*Console {3}http:\/\/localhost:\d+\n\s+Data {6}.*\n\s+Mail {6}SMTP_URI is not set[^\n]*\n.*\/mails with the token \S+/,
  )
  await queryDatabase(dataDir, 'create table kept as select 42 as n')
  await expectServing()

  // A second start in the same directory is refused, and does not affect the first one.
  const before = await pidsOfAll()
  const second = await start()
  expect([await second.ended, second.output()]).toEqual([
    1,
    expect.stringContaining(`in use by process ${before['the supervisor']}; stop that one first`),
  ])
  expect(await pidsOfAll()).toEqual(before)
  await expectServing()

  for (const part of ['the server', 'the identity service', 'PostgreSQL'] as const) {
    const pids = await pidsOfAll()
    process.kill(pids[part], 'SIGKILL')
    await waitUntil(() => !isAlive(pids[part]), 10_000)
    await expect
      .poll(
        () =>
          pidsOfAll().then(
            (now) => now[part] !== pids[part],
            () => false,
          ),
        { timeout: 60_000 },
      )
      .toBe(true)
    await expect
      .poll(
        () =>
          expectServing().then(
            () => true,
            () => false,
          ),
        { timeout: 90_000 },
      )
      .toBe(true)
    const now = await pidsOfAll()
    for (const other of Object.keys(pids) as Part[])
      if (other !== part) expect([other, now[other]], `after kill -9 of ${part}`).toEqual([other, pids[other]])
  }

  for (const part of ['npm', 'the wrapper', 'the supervisor'] as const) {
    const pids = await pidsOfAll()
    process.kill(pids[part], 'SIGKILL')
    const again = await start()
    expect(again.output(), `after kill -9 of ${part}`).toContain('Crux is ready')
    // None of the previous processes runs beside the new ones.
    expect(Object.entries(pids).filter(([, pid]) => isAlive(pid))).toEqual([])
    await pidsOfAll()
    await expectServing()
  }
  const pids = await pidsOfAll()
  for (const pid of Object.values(pids)) process.kill(pid, 'SIGKILL')
  const last = await start()
  expect(last.output()).toContain('Crux is ready')
  await expectServing()

  const ending = await pidsOfAll()
  last.pressCtrlC()
  await last.ended
  await waitUntil(() => listProcesses(dataDir).length === 0 && !isAlive(ending.PostgreSQL), 30_000)
  expect([listProcesses(dataDir), isAlive(ending.PostgreSQL)]).toEqual([[], false])
  expect(last.output()).toContain('Stopping Crux; containers keep running')
  await expect(fetch(`http://localhost:${port}/`)).rejects.toThrow()
})

test('npm start reports an unknown flag, and a port that is in use', async () => {
  const unknown = await start('--prot', '9')
  expect([await unknown.ended, unknown.output()]).toEqual([1, expect.stringContaining("Unknown option '--prot'")])
  const other = createServer().listen(port, '127.0.0.1')
  await once(other, 'listening')
  const taken = await start()
  expect([await taken.ended, taken.output()]).toEqual([
    1,
    expect.stringMatching(
      new RegExp(`Crux does not start: .*CRUX_PORT.*${port}|Crux does not start: .*${port}.*CRUX_PORT`),
    ),
  ])
  expect(listProcesses(dataDir)).toEqual([])
  other.close()
})

test('npm start accepts CRUX_RATE_LIMITS=off only on loopback, and reports it before anything is built', async () => {
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

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { FakeServer, waitUntil } from './kit/index.ts'

// Runs `npm run agent` itself, as users do.

const root = fileURLToPath(new URL('../../..', import.meta.url))
let server: FakeServer
let dataDir: string
let npm: ReturnType<typeof runAgent> | undefined

beforeEach(async () => {
  server = new FakeServer()
  await server.start()
  dataDir = mkdtempSync(join(tmpdir(), 'crux-npm-agent-'))
})
afterEach(async () => {
  npm?.child.kill('SIGTERM')
  await npm?.ended
  for (const pid of processes()) process.kill(pid, 'SIGKILL')
  npm = undefined
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

function runAgent(...flags: string[]) {
  const { CRUX_TOKEN: _, CRUX_URL: __, CRUX_DATA_DIR: ___, CRUX_NODE_ID: ____, ...env } = process.env
  const child: ChildProcess = spawn('npm', ['run', 'agent', '--', ...flags], {
    cwd: root,
    env,
    // A process group of its own, as in a terminal: Ctrl-C reaches npm, its shell and the script at once.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)))
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  return { child, ended, output: () => output }
}

/** npm, the script and the agent: every process with this data directory in its arguments or environment. */
function processes(): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry) && Number(entry) !== process.pid)
    .filter((pid) => {
      try {
        return ['cmdline', 'environ'].some((file) => readFileSync(`/proc/${pid}/${file}`, 'utf8').includes(dataDir))
      } catch {
        return false
      }
    })
    .map(Number)
}

const startMs = 60_000

test('npm run agent connects with an install token, stores its data, and leaves nothing running after Ctrl-C', async () => {
  const token = server.newInstallToken()
  npm = runAgent('--token', token, '--data-dir', dataDir, '--url', server.url, '--node', 'node-1')
  const info = await waitUntil('it is connected', () => server.links[0], startMs)
  expect(info).toMatchObject({ nodeId: 'node-1' })
  const stored = join(dataDir, '.agent/token.json')
  await waitUntil('its token is stored', () => statSync(stored, { throwIfNoEntry: false }) !== undefined)
  expect(statSync(stored).mode & 0o777).toBe(0o600)
  await waitUntil('it says so', () => /"msg":"connected"/.test(npm?.output() ?? ''))
  expect(npm.output().replaceAll(/^>.*$/gm, '')).not.toContain(token)
  expect(processes().length).toBeGreaterThan(1)
  process.kill(-(npm.child.pid ?? 0), 'SIGINT')
  await npm.ended
  await waitUntil('nothing is left', () => processes().length === 0)

  // Starts without the token, because the agent has another one now.
  npm = runAgent('--data-dir', dataDir, '--url', server.url)
  expect(await waitUntil('it is connected again', () => server.links[1], startMs)).toMatchObject({ nodeId: 'node-1' })
})

test('npm run agent ends with a message that says where to get a new token when the server refuses its token', async () => {
  npm = runAgent('--token', `crux_${'x'.repeat(43)}`, '--data-dir', dataDir, '--url', server.url)
  expect(await npm.ended).toBe(0)
  expect(npm.output()).toContain('the server refused the token: install the agent again from the node page')
  expect(server.links).toEqual([])
  expect(processes()).toEqual([])
})

test.each([
  ['no data directory', [], '--data-dir is missing'],
  ['no token', ['--data-dir', 'DIR'], 'No install token was given (CRUX_TOKEN): install the agent from the node page'],
  ['a token of another kind', ['--data-dir', 'DIR', '--token', 'ghp_nonsense'], 'CRUX_TOKEN'],
  ['an address that is none', ['--data-dir', 'DIR', '--token', 'TOKEN', '--url', 'nonsense'], 'CRUX_URL'],
  [
    'plain http to another machine',
    ['--data-dir', 'DIR', '--token', 'TOKEN', '--url', 'http://crux.example.com'],
    'CRUX_URL would send the token in plain text',
  ],
  ['an unknown flag', ['--data-dir', 'DIR', '--tokn', 'TOKEN'], "Unknown option '--tokn'"],
])(
  'npm run agent ends at once and reports what is wrong with %s',
  async (_, flags, words) => {
    const replaced = flags.map((flag) => ({ DIR: dataDir, TOKEN: server.newInstallToken() })[flag] ?? flag)
    npm = runAgent(...replaced)
    expect(await npm.ended).toBe(1)
    expect(npm.output()).toContain(words)
    expect(npm.output()).not.toMatch(/^\s+at .*\(/m)
    expect(server.links).toEqual([])
  },
  60_000,
)

test('npm run agent keeps trying where nothing answers, reports that once, and ends with a signal', async () => {
  npm = runAgent('--token', server.newInstallToken(), '--data-dir', dataDir, '--url', 'http://localhost:9')
  await waitUntil('it says so', () => npm?.output().includes('cannot connect, trying again'), startMs)
  expect(npm.output()).toContain('ECONNREFUSED')
  process.kill(-(npm.child.pid ?? 0), 'SIGINT')
  await npm.ended
  expect(npm.output().match(/cannot connect, trying again/g)).toHaveLength(1)
  await waitUntil('nothing is left', () => processes().length === 0)
})

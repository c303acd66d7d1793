import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { root } from './repository.ts'

/**
 * Runs scripts/setup/docker.mjs on a simulated machine in one directory: its commands record their calls, and its engine is a test socket. The real
 * engine is not used, and nothing is installed.
 */
let dir: string
let server: Server | undefined
const asRoot = process.getuid?.() === 0
const nobody = 65_534

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'crux-docker-setup-'))
  chmodSync(dir, 0o755)
  mkdirSync(join(dir, 'bin'))
  mkdirSync(join(dir, 'data'))
  writeFileSync(join(dir, 'calls'), '', { mode: 0o666 })
  chmodSync(join(dir, 'calls'), 0o666)
  // The commands that the script runs, and those that the commands of this test need.
  for (const [name, path] of [
    ['env', '/usr/bin/env'],
    ['sh', '/bin/sh'],
    ['cat', '/bin/cat'],
  ] as const)
    symlinkSync(path, join(dir, 'bin', name))
  symlinkSync(process.execPath, join(dir, 'bin', 'node'))
})
afterEach(async () => {
  const pidFile = join(dir, 'dockerd.pid')
  if (existsSync(pidFile)) process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL')
  await new Promise((resolve) => (server ? server.close(resolve) : resolve(undefined)))
  server = undefined
  rmSync(dir, { recursive: true, force: true })
})

const calls = () => readFileSync(join(dir, 'calls'), 'utf8').split('\n').filter(Boolean)

function command(name: string, lines: string[] = []) {
  const text = ['#!/bin/sh', `echo "${name} $*" >>'${join(dir, 'calls')}'`, ...lines, '']
  writeFileSync(join(dir, 'bin', name), text.join('\n'), { mode: 0o755 })
}

/** A replacement of the engine. It is detached only if the script detaches it. */
const dockerdLines = () => {
  const program = `
    require('node:fs').writeFileSync('${join(dir, 'dockerd.pid')}', String(process.pid))
    require('node:http').createServer((_, answer) => answer.end('OK')).listen('${join(dir, 'docker.sock')}')`
  writeFileSync(join(dir, 'dockerd.cjs'), program)
  return [`exec node '${join(dir, 'dockerd.cjs')}'`]
}

function debian() {
  writeFileSync(join(dir, 'os-release'), 'PRETTY_NAME="Debian GNU/Linux 12"\nID=debian\n')
}

/** Listens on the socket of the machine, or on any port. */
async function listen(where: string | number, status = 200): Promise<number> {
  const made = createServer((_request, response) => response.writeHead(status).end('OK'))
  server = made
  await new Promise<void>((resolve) => made.listen(where, resolve))
  return (made.address() as AddressInfo).port
}

type Options = { env?: Record<string, string>; uid?: number; typed?: string; platform?: string }

/** @returns the line about Docker, and the complete output */
async function ensureDocker({ env = {}, uid, typed, platform = 'linux' }: Options = {}) {
  const machine = {
    platform,
    systemDirectories: [],
    osRelease: join(dir, 'os-release'),
    systemd: join(dir, 'systemd'),
    dockerSocket: join(dir, 'docker.sock'),
    dockerStartMs: 3_000,
  }
  const script = `
    import { ensureDocker } from '${join(root, 'scripts/setup/docker.mjs')}'
    console.log('OUTCOME ' + await ensureDocker('${join(dir, 'data')}', ${JSON.stringify(machine)}))`
  writeFileSync(join(dir, 'run.mjs'), script)
  const node = [process.execPath, join(dir, 'run.mjs')]
  // Questions need a terminal; without one none are asked.
  const words = typed === undefined ? node : ['/usr/bin/script', '-qec', node.join(' '), '/dev/null']
  const child: ChildProcess = spawn(words[0] ?? '', words.slice(1), {
    cwd: dir,
    env: { PATH: join(dir, 'bin'), TERM: 'dumb', SHELL: '/bin/sh', ...env },
    ...(uid === undefined ? {} : { uid, gid: uid }),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      output += String(chunk)
      if (typed !== undefined && /\[Y\/n\] $/.test(output)) child.stdin?.write(`${typed}\n`)
    })
  if (typed === undefined) child.stdin?.end()
  await new Promise((resolve) => child.once('close', resolve))
  const outcome = /^OUTCOME (.*?)\r?$/m.exec(output)?.[1]
  if (outcome === undefined) throw new Error(output)
  return { outcome, output }
}

test('Docker setup uses an engine that answers at the socket, and changes nothing else', async () => {
  await listen(join(dir, 'docker.sock'))
  for (const name of ['apt-get', 'dockerd', 'systemctl']) command(name)
  debian()
  expect((await ensureDocker()).outcome).toBe('ready')
  expect(calls()).toEqual([])
})

test('Docker setup uses an engine in DOCKER_HOST over its socket or its port, and names it', async () => {
  const socket = join(dir, 'other.sock')
  await listen(socket)
  expect((await ensureDocker({ env: { DOCKER_HOST: `unix://${socket}` } })).outcome).toBe(`ready at unix://${socket}`)
  await new Promise((resolve) => server?.close(resolve))
  const host = `tcp://127.0.0.1:${await listen(0)}`
  expect((await ensureDocker({ env: { DOCKER_HOST: host } })).outcome).toBe(`ready at ${host}`)
})

test('Docker setup reports a DOCKER_HOST that does not answer, and does not install, start or use another engine', async () => {
  await listen(join(dir, 'docker.sock'))
  for (const name of ['apt-get', 'dockerd', 'systemctl']) command(name)
  debian()
  for (const host of [`unix://${join(dir, 'nowhere.sock')}`, 'tcp://127.0.0.1:9', 'ssh://somewhere', 'nonsense'])
    expect((await ensureDocker({ env: { DOCKER_HOST: host } })).outcome).toBe(
      `not available: nothing answers at DOCKER_HOST ${host}`,
    )
  expect(calls()).toEqual([])
})

test.skipIf(!asRoot)(
  'Docker setup reports a socket without permission together with the command that changes it, and starts nothing',
  async () => {
    await listen(join(dir, 'docker.sock'))
    chmodSync(join(dir, 'docker.sock'), 0o600)
    command('dockerd')
    const { outcome } = await ensureDocker({ uid: nobody })
    expect(outcome).toMatch(
      /^not available: \w+ may not use \S+docker\.sock \(sudo usermod -aG docker \w+, then sign in again\)$/,
    )
    expect(calls()).toEqual([])
  },
)

test('Docker setup without dockerd on a machine other than Debian prints a hint and no command', async () => {
  command('apt-get')
  writeFileSync(join(dir, 'os-release'), 'ID=fedora\n')
  expect((await ensureDocker()).outcome).toMatch(/^not available: dockerd is not installed; install Docker/)
  rmSync(join(dir, 'os-release'))
  expect((await ensureDocker()).outcome).toMatch(/^not available: dockerd is not installed/)
  expect(calls()).toEqual([])
})

test('Docker setup names Docker Desktop on systems other than Linux', async () => {
  command('dockerd')
  expect((await ensureDocker({ platform: 'darwin' })).outcome).toContain('start Docker Desktop')
  expect(calls()).toEqual([])
})

test.skipIf(!asRoot)(
  'Docker setup on Debian installs docker.io and starts dockerd in a session of its own with a log of its own',
  async () => {
    debian()
    const install = dockerdLines().join('\n')
    writeFileSync(
      join(dir, 'dockerd'),
      `#!/bin/sh\necho "dockerd $*" >>'${join(dir, 'calls')}'\necho listening\n${install}\n`,
    )
    command('apt-get', [
      `case "$*" in *docker.io*) cat '${join(dir, 'dockerd')}' >'${join(dir, 'bin/dockerd')}'; /bin/chmod 755 '${join(dir, 'bin/dockerd')}' ;; esac`,
    ])
    const { outcome, output } = await ensureDocker()
    expect(outcome).toBe('ready (dockerd was started and keeps running when Crux stops)')
    expect(output).toContain('installing docker.io with apt-get')
    expect(calls().map((line) => line.replaceAll(/-qq -o Dpkg::Use-Pty=0 /g, ''))).toEqual([
      'apt-get update',
      'apt-get install -y --no-install-recommends docker.io iptables ca-certificates',
      'dockerd ',
    ])
    const log = join(dir, 'data/logs/dockerd.log')
    expect([readFileSync(log, 'utf8'), statSync(log).mode & 0o777]).toEqual(['listening\n', 0o600])
    const pid = readFileSync(join(dir, 'dockerd.pid'), 'utf8')
    // The sixth field is the session. It must be a separate one, so that Ctrl-C and the end of the terminal do not reach it.
    expect(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[3]).toBe(pid)
  },
)

test.skipIf(!asRoot)('Docker setup reports a failed installation with the last line of apt-get', async () => {
  debian()
  command('apt-get', [
    'case "$*" in *install*) echo "E: first" >&2; echo "E: Unable to locate package docker.io" >&2; exit 100 ;; esac',
  ])
  expect((await ensureDocker()).outcome).toBe(
    'not available: apt-get install docker.io iptables ca-certificates failed: E: Unable to locate package docker.io',
  )
})

test.skipIf(!asRoot)('Docker setup installs and starts nothing for a user who declines', async () => {
  debian()
  command('apt-get')
  const declined = await ensureDocker({ typed: 'n' })
  expect(declined.output).toContain('No Docker on this machine. Install docker.io with apt-get? [Y/n]')
  expect(declined.outcome).toMatch(/^not available: not installed; install Docker/)
  command('dockerd')
  const left = await ensureDocker({ typed: 'no' })
  expect(left.output).toContain('No Docker engine runs. Start dockerd? [Y/n]')
  expect(left.outcome).toBe('not available: dockerd does not run')
  expect(calls()).toEqual([])
})

test.skipIf(!asRoot)('Docker setup starts dockerd for a user who accepts with Enter', async () => {
  command('dockerd', dockerdLines())
  expect((await ensureDocker({ typed: '' })).outcome).toContain('ready (dockerd was started')
  expect(calls()).toEqual(['dockerd '])
})

test.skipIf(!asRoot)('Docker setup starts Docker with systemd where systemd runs', async () => {
  mkdirSync(join(dir, 'systemd'))
  command('dockerd')
  const lines = dockerdLines()
  command('systemctl', [`(${lines[0]}) >/dev/null 2>&1 &`])
  expect((await ensureDocker()).outcome).toContain('ready (dockerd was started')
  expect(calls()).toEqual(['systemctl start docker'])
})

test.skipIf(!asRoot)('Docker setup reports a dockerd that exits with the last line of its log', async () => {
  command('dockerd', ['echo first', 'echo "failed to start daemon: no space left on device" >&2', 'exit 1'])
  const { outcome } = await ensureDocker()
  expect(outcome).toBe(
    `not available: dockerd does not answer; its log ${join(dir, 'data/logs/dockerd.log')} ends with: failed to start daemon: no space left on device`,
  )
})

test.skipIf(!asRoot)(
  'Docker setup reports a user who cannot become root, and runs every command through sudo for one who can',
  async () => {
    command('dockerd', dockerdLines())
    chmodSync(dir, 0o777)
    chmodSync(join(dir, 'data'), 0o777)
    expect((await ensureDocker({ uid: nobody })).outcome).toBe(
      'not available: dockerd does not run, and starting it needs root (sudo dockerd)',
    )
    expect(calls()).toEqual([])
    command('sudo', ['case "$1" in -n) shift ;; esac', 'case "$1" in -v) exit 0 ;; true) exit 1 ;; esac', 'exec "$@"'])
    expect((await ensureDocker({ uid: nobody })).outcome).toContain('starting it needs root')
    command('sudo', ['case "$1" in -n) shift ;; esac', 'case "$1" in -v | true) exit 0 ;; esac', 'exec "$@"'])
    const outcome = (await ensureDocker({ uid: nobody })).outcome
    expect(outcome).toContain('ready (dockerd was started')
    expect(calls().at(-2)).toMatch(/^sudo -n \S+\/bin\/dockerd$/)
  },
)

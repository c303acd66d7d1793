import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { installCommand, installScript } from './install-script.ts'
import type { ScriptValues } from './install-values.ts'
import { powershellLiteral, shellWord } from './shell-quoting.ts'

const token = `crux_${'a'.repeat(43)}`
const hostile = `o'Brien"; $(touch pwned) \`touch pwned\` & \\ ${'$'}{HOME} %PATH% <é>\ntouch pwned\n#`
const makeValues = (changes: Partial<ScriptValues> = {}): ScriptValues => ({
  url: 'http://localhost:8000',
  teamSlug: 'crew',
  nodeId: '0199a7d3-8c52-7f0b-9d4e-2f6a1b3c5d7e',
  nodeName: 'web one',
  token,
  containerName: 'crux-agent',
  rootPath: undefined,
  acmeEmail: undefined,
  agentImage: undefined,
  plaintext: false,
  desktopUrl: 'http://host.docker.internal:8000',
  ...changes,
})

let directory: string
let socketServer: Server
let socket: string

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'crux-install-'))
  socket = join(directory, 'docker.sock')
  socketServer = createServer()
  await new Promise<void>((resolve) => socketServer.listen(socket, resolve))
  mkdirSync(join(directory, 'bin'))
  // An engine and a downloader that record the arguments of their calls.
  command('docker', [
    'for word; do printf "%s\\0" "$word" >>"$RECORD/docker"; done; printf "\\n" >>"$RECORD/docker"',
    'case "$1 $2" in',
    '  "container inspect") [ -n "$EXISTING" ] || exit 1; [ "$3" != --format ] || printf "%s\\n" "$EXISTING" ;;',
    '  "load "*) cat >"$RECORD/image"; echo "Loaded image: crux/agent:1.0.0-amd64" ;;',
    '  "image inspect" | "pull docker.io/library/traefik"*) [ -n "$TRAEFIK" ] ;;',
    'esac',
  ])
  command('curl', ['cat >"$RECORD/curl-config"', 'printf "%s\\n" "$@" >"$RECORD/curl"', 'printf "image bytes"'])
})
afterEach(async () => {
  await new Promise((resolve) => socketServer.close(resolve))
  rmSync(directory, { recursive: true, force: true })
})

function command(name: string, lines: string[]) {
  writeFileSync(join(directory, 'bin', name), ['#!/bin/sh', ...lines, ''].join('\n'))
  chmodSync(join(directory, 'bin', name), 0o755)
}

/** Runs the script as `curl ... | sh` does. */
function run(script: string, env: Record<string, string> = {}): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn('sh', [], {
      cwd: directory,
      env: {
        PATH: `${join(directory, 'bin')}:${process.env.PATH}`,
        HOME: directory,
        RECORD: directory,
        EXISTING: '',
        TRAEFIK: '',
        HOST_DOCKER_SOCK_PATH: socket,
        ROOTLESS: 'true',
        ...env,
      },
    })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.on('close', (code) => resolve({ code, output }))
    child.stdin.end(script)
  })
}

const calls = () =>
  readFileSync(join(directory, 'docker'), 'utf8')
    .split('\n')
    .map((line) => line.split('\0').slice(0, -1))
const runCall = (name: string) => calls().find((args) => args[0] === 'run' && args.includes(name)) ?? []

test('the shell script loads the image with the token in a header that no process list shows, and starts the agent', async () => {
  const { code, output } = await run(installScript('shell', makeValues({ rootPath: join(directory, 'data') })))
  expect({ code, output }).toMatchObject({ code: 0 })
  expect(readFileSync(join(directory, 'curl-config'), 'utf8')).toBe(`header = "Authorization: Bearer ${token}"\n`)
  expect(readFileSync(join(directory, 'curl'), 'utf8')).not.toContain(token)
  expect(readFileSync(join(directory, 'image'), 'utf8')).toBe('image bytes')
  const args = runCall('crux-agent')
  expect(args).toEqual([
    ...['run', '--detach', '--name', 'crux-agent', '--restart', 'on-failure'],
    ...['--label', 'dev.crux.service-category=_internal'],
    ...['--env', 'CRUX_URL=http://localhost:8000'],
    ...['--env', 'CRUX_NODE_ID=0199a7d3-8c52-7f0b-9d4e-2f6a1b3c5d7e'],
    ...['--env', 'CRUX_DATA_DIR=/data', '--env', `DATA_MOUNT_PATH=${join(directory, 'data')}`],
    ...['--volume', `${join(directory, 'data')}:/data`, '--volume', `${socket}:/var/run/docker.sock`],
    ...['--network', 'host', 'crux/agent:1.0.0-amd64'],
  ])
  const tokenFile = join(directory, 'data/.agent/install-token')
  expect(readFileSync(tokenFile, 'utf8')).toBe(`${token}\n`)
  expect([tokenFile, join(directory, 'data/.agent')].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o700])
})

test("the shell script as root gives the agent the settings of the bridges, which a user's engine has no rights to", async () => {
  const script = installScript('shell', makeValues({ rootPath: join(directory, 'data') }))
  command('id', ['echo 0'])
  const mount = '/proc/sys/net/ipv4/conf:/run/host-net-conf'
  expect(await run(script, { ROOTLESS: '' })).toMatchObject({ code: 0 })
  expect(runCall('crux-agent')).toContain(mount)
  rmSync(join(directory, 'docker'))
  expect(await run(script)).toMatchObject({ code: 0 })
  expect(runCall('crux-agent')).not.toContain(mount)
})

test('text that users typed never becomes a command', async () => {
  const path = `${directory}/a b;touch pwned & (x) *`
  const values = makeValues({ nodeName: hostile, teamSlug: hostile, rootPath: path, agentImage: hostile })
  const { code, output } = await run(
    installScript('shell', { ...values, containerName: hostile, acmeEmail: hostile }),
    {
      TRAEFIK: 'present',
    },
  )
  expect({ code, output }).toMatchObject({ code: 0 })
  expect(existsSync(join(directory, 'pwned'))).toBe(false)
  const record = readFileSync(join(directory, 'docker'), 'utf8')
  expect(record).toContain(`--name\0${hostile}\0`)
  expect(record).toContain(`--volume\0${path}:/data\0`)
  expect(record).toContain(`--certificatesresolvers.le.acme.email=${hostile}\0`)
})

test('the quoting of both shells preserves any text, including all kinds of quotes', () => {
  expect(shellWord("a'b")).toBe("'a'\\''b'")
  expect(powershellLiteral("a'b\u2019c")).toBe("'a''b\u2019\u2019c'")
  expect(() => shellWord('a\0b')).toThrow('NUL')
  expect(() => powershellLiteral('a\0b')).toThrow('NUL')
  const script = installScript('powershell', makeValues({ nodeName: hostile, containerName: hostile }))
  expect(script).toContain(`$containerName = ${powershellLiteral(hostile)}\n`)
  expect(script.split('\n')[0]).toMatch(/^# Installs the Crux agent for the node [\w\s.é-]*\.$/)
})

test('the PowerShell script queries the engine quietly only where its output on stderr does not end the script', () => {
  const script = installScript('powershell', makeValues())
  const quiet = script.split('\n').filter((line) => /[*2]> ?\$null/.test(line))
  expect(quiet).toEqual(['    & $engine @args *> $null'])
  expect(script).toMatch(/function Test-Engine \{\n\s+\$ErrorActionPreference = 'Continue'\n\s+& \$engine @args/)
})

test('the commands to copy carry the token in a header, never in the address', () => {
  const shell = installCommand('shell', makeValues())
  expect(shell).toBe(
    ` printf 'header = "Authorization: Bearer %s"\\n' '${token}' | curl -fsSL --config - 'http://localhost:8000/api/crew/nodes/0199a7d3-8c52-7f0b-9d4e-2f6a1b3c5d7e/script' | sh`,
  )
  expect(installCommand('powershell', makeValues())).toMatch(
    /^\$token = 'crux_a{43}'; Invoke-RestMethod -Headers @{ Authorization = "Bearer \$token" } -Uri 'http/,
  )
})

test('the script replaces a previous agent, but not another container of this name', async () => {
  const script = installScript('shell', makeValues())
  const foreign = await run(script, { EXISTING: '<no value>' })
  expect(foreign.code).toBe(1)
  expect(foreign.output).toContain("a container named crux-agent exists already and is not the agent's")
  expect(calls().some(([verb]) => verb === 'rm' || verb === 'run')).toBe(false)
  const ours = await run(script, { EXISTING: '_internal' })
  expect(ours.code).toBe(0)
  expect(calls()).toContainEqual(['rm', '-f', 'crux-agent'])
})

test('an incomplete download of the script runs nothing', async () => {
  const script = installScript('shell', makeValues())
  const cuts = ['become_root() {', 'start_agent() {', 'start_traefik() {', 'main() {', '\nmain "$@"'].map((mark) =>
    script.indexOf(mark),
  )
  for (const cut of cuts) {
    expect(cut).toBeGreaterThan(0)
    await run(script.slice(0, cut))
    expect(existsSync(join(directory, 'docker'))).toBe(false)
  }
})

test('the script writes its token only to its own file, never through a link, and deletes it when the agent cannot be started', async () => {
  const script = installScript('shell', makeValues({ rootPath: join(directory, 'data') }))
  const tokenFile = join(directory, 'data/.agent/install-token')
  mkdirSync(join(directory, 'data/.agent'), { recursive: true })
  writeFileSync(join(directory, 'elsewhere'), 'untouched')
  symlinkSync(join(directory, 'elsewhere'), tokenFile)
  expect((await run(script)).code).toBe(0)
  expect(lstatSync(tokenFile).isFile()).toBe(true)
  expect(readFileSync(join(directory, 'elsewhere'), 'utf8')).toBe('untouched')
  command('docker', [
    'case "$1" in run | container) exit 1 ;; load) cat >/dev/null; echo "Loaded image: crux/agent:1" ;; esac',
  ])
  const failed = await run(script)
  expect(failed).toMatchObject({ code: 1, output: expect.stringContaining('the agent could not be started') })
  expect(existsSync(tokenFile)).toBe(false)
})

test('the script passes a custom authority to curl and, as a copy, to the agent, and reports one that cannot be read', async () => {
  const script = installScript('shell', makeValues({ url: 'https://crux.internal', rootPath: join(directory, 'data') }))
  const authority = join(directory, 'my authority.pem')
  const missing = await run(script, { CRUX_CA_FILE: authority })
  expect(missing).toMatchObject({ code: 1, output: expect.stringContaining(`${authority}, which cannot be read`) })
  expect(existsSync(join(directory, 'curl'))).toBe(false)
  writeFileSync(authority, 'PEM')
  writeFileSync(join(directory, 'elsewhere'), 'untouched')
  mkdirSync(join(directory, 'data/.agent'), { recursive: true })
  symlinkSync(join(directory, 'elsewhere'), join(directory, 'data/.agent/ca.pem'))
  expect((await run(script, { CRUX_CA_FILE: authority })).code).toBe(0)
  expect(readFileSync(join(directory, 'curl'), 'utf8')).toContain(`--cacert\n${authority}\n`)
  expect(runCall('crux-agent').join(' ')).toContain('--env NODE_EXTRA_CA_CERTS=/data/.agent/ca.pem')
  expect(readFileSync(join(directory, 'data/.agent/ca.pem'), 'utf8')).toBe('PEM')
  expect(readFileSync(join(directory, 'elsewhere'), 'utf8')).toBe('untouched')
  rmSync(join(directory, 'docker'))
  expect((await run(script)).code).toBe(0)
  expect(runCall('crux-agent').join(' ')).not.toContain('CA_CERTS')
  expect(existsSync(join(directory, 'data/.agent/ca.pem'))).toBe(false)
})

test('plain text to another machine requires explicit consent', async () => {
  const script = installScript('shell', makeValues({ url: 'http://10.0.0.1:8000', plaintext: true }))
  const refused = await run(script)
  expect(refused.code).toBe(1)
  expect(refused.output).toContain('CRUX_INSECURE=true')
  const wanted = await run(script, { CRUX_INSECURE: 'true' })
  expect(wanted.code).toBe(0)
  expect(runCall('crux-agent')).toContain('CRUX_INSECURE=true')
})

test('the script passes ROOT_DOMAIN to the agent as one argument', async () => {
  const script = installScript('shell', makeValues({ rootPath: join(directory, 'data') }))
  expect((await run(script, { ROOT_DOMAIN: 'apps.example.com $(id)' })).code).toBe(0)
  expect(runCall('crux-agent')).toContain('ROOT_DOMAIN=apps.example.com $(id)')
  rmSync(join(directory, 'docker'))
  expect((await run(script)).code).toBe(0)
  expect(runCall('crux-agent').join()).not.toContain('ROOT_DOMAIN')
})

test('a missing engine, socket, directory or download stops the script with a sentence', async () => {
  const script = installScript('shell', makeValues())
  expect((await run(script, { HOST_DOCKER_SOCK_PATH: '/nonexistent.sock' })).output).toContain(
    'no socket of the engine',
  )
  expect((await run(script, { PERSISTENCE_FOLDER: 'relative' })).output).toContain('not an absolute path')
  expect((await run(script, { PERSISTENCE_FOLDER: '/a:b' })).output).toContain('it has a colon')
  expect((await run(script, { CRI_EXECUTABLE: 'no-such-engine' })).output).toContain('no-such-engine does not answer')
  command('curl', ['cat >/dev/null', 'exit 22'])
  command('docker', ['[ "$1" = version ] && exit 0', 'echo "invalid tar header" >&2; exit 1'])
  const failed = await run(script)
  expect(failed.code).toBe(1)
  expect(failed.output).toContain('the image could not be loaded')
})

test('the script without root and without ROOTLESS downloads itself again and continues through sudo', async () => {
  const script = installScript('shell', makeValues())
  command('id', ['echo 1000'])
  command('curl', ['cat >/dev/null', 'cat "$RECORD/again"'])
  command('sudo', ['printf "%s\\n" "$*" >"$RECORD/sudo"', 'shift; export ROOTLESS=true', 'exec env "$@"'])
  writeFileSync(join(directory, 'again'), 'echo "as root: $PERSISTENCE_FOLDER"\n')
  const { code, output } = await run(script, { ROOTLESS: '', PERSISTENCE_FOLDER: '/srv/my data' })
  expect({ code, output }).toMatchObject({ code: 0 })
  expect(output).toContain('as root: /srv/my data')
  expect(existsSync(join(directory, 'docker'))).toBe(false)
})

test('the script starts traefik only where its pinned image is available, and works without it', async () => {
  const script = installScript('shell', makeValues({ acmeEmail: 'ops@example.com', rootPath: join(directory, 'data') }))
  const without = await run(script)
  expect(without).toMatchObject({ code: 0 })
  expect(without.output).toContain('traefik was not started')
  expect(runCall('crux-traefik')).toEqual([])
  await run(script, { TRAEFIK: 'present' })
  expect(runCall('crux-traefik')).toContain('--certificatesresolvers.le.acme.email=ops@example.com')
})

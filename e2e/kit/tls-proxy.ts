import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { waitFor } from '@crux/test-kit'
import { test } from '@playwright/test'
import { makeCertificate } from './certificate.ts'

/** The examples of docs/proxy. The tests run them with changed names, ports and certificates. */
const example = (file: string) =>
  readFileSync(fileURLToPath(new URL(`../../docs/proxy/${file}`, import.meta.url)), 'utf8')

export type ProxyName = 'nginx' | 'caddy'

/** Called by groups whose tests run a proxy. They are skipped with a reason where it is not installed. */
export function needsProxy(name: ProxyName): void {
  test.skip(findProxy(name) === undefined, `${name} is not installed (Debian package ${name})`)
}

/** The path of the program; Debian does not have nginx in the PATH of users. */
function findProxy(name: ProxyName): string | undefined {
  const directories = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/bin']
  return directories
    .map((directory) => join(directory, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}

export type TlsProxy = {
  /** The certificate of the authority that signed that of the proxy. */
  caFile: string
  ca: string
  start(): Promise<void>
  stop(): Promise<void>
  remove(): Promise<void>
}

/** A proxy with TLS on `port`, in front of Crux on `upstreamPort`, with a certificate for `localhost` of an authority of its own. */
export function prepareProxy(name: ProxyName, port: number, upstreamPort: number): TlsProxy {
  const directory = mkdtempSync(join(tmpdir(), `crux-${name}-`))
  makeCertificate(directory, { subject: 'localhost', names: 'DNS:localhost' })
  const [command, ...args] =
    name === 'nginx' ? nginx(directory, port, upstreamPort) : caddy(directory, port, upstreamPort)
  let child: ChildProcess | undefined
  let output = ''
  const stop = async () => {
    const ending = child
    child = undefined
    if (!ending || ending.exitCode !== null) return
    const ended = new Promise((resolve) => ending.once('exit', resolve))
    ending.kill('SIGTERM')
    await ended
  }
  return {
    caFile: join(directory, 'ca.pem'),
    ca: readFileSync(join(directory, 'ca.pem'), 'utf8'),
    async start() {
      const started = spawn(command, args, { env: { PATH: process.env.PATH, HOME: directory }, cwd: directory })
      child = started
      for (const stream of [started.stdout, started.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
      await waitFor(`${name} listens`, () => {
        if (started.exitCode !== null) throw new Error(`${name} ended: ${output}`)
        return listens(port)
      })
    },
    stop,
    async remove() {
      await stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Shortened idle timeouts, so that a test covers what would take a day. */
export const nginxIdleMs = { grpc: 20_000, webSocket: 35_000 }

function nginx(directory: string, port: number, upstreamPort: number): [string, ...string[]] {
  const [tls] = /server \{\n {4}# Agents[\s\S]*$/.exec(example('nginx.conf')) ?? []
  const [map] = /map [\s\S]*?\n\}\n/.exec(example('nginx.conf')) ?? []
  if (!tls || !map) throw new Error('docs/proxy/nginx.conf has no server for TLS')
  const server = replaceAll(tls, [
    ['listen 443 ssl http2;', `listen 127.0.0.1:${port} ssl http2;`],
    ['crux.example.com', 'localhost'],
    ['/etc/ssl/crux/fullchain.pem', join(directory, 'cert.pem')],
    ['/etc/ssl/crux/key.pem', join(directory, 'key.pem')],
    ['127.0.0.1:8000', `127.0.0.1:${upstreamPort}`],
  ])
  const seconds = (ms: number) => `${ms / 1_000}s`
  const config = join(directory, 'nginx.conf')
  writeFileSync(
    config,
    `${process.getuid?.() === 0 ? 'user root;' : ''}
pid ${directory}/nginx.pid;
error_log stderr warn;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${directory}/${kind};`).join('\n  ')}
  # nginx ends a connection of HTTP/2 after so many requests: an agent has to open another one without losing its link.
  keepalive_requests 20;
  client_body_timeout ${seconds(nginxIdleMs.grpc)};
  grpc_read_timeout ${seconds(nginxIdleMs.grpc)};
  grpc_send_timeout ${seconds(nginxIdleMs.grpc)};
  proxy_read_timeout ${seconds(nginxIdleMs.webSocket)};
  proxy_send_timeout ${seconds(nginxIdleMs.webSocket)};
${map}
${server}
}
`,
  )
  return [findProxy('nginx') ?? 'nginx', '-c', config, '-p', directory, '-e', 'stderr', '-g', 'daemon off;']
}

function caddy(directory: string, port: number, upstreamPort: number): [string, ...string[]] {
  const site = replaceAll(example('Caddyfile'), [
    [
      'crux.example.com {',
      `localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${join(directory, 'cert.pem')} ${join(directory, 'key.pem')}`,
    ],
    ['127.0.0.1:8000', `127.0.0.1:${upstreamPort}`],
  ])
  const config = join(directory, 'Caddyfile')
  writeFileSync(config, `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`)
  return [findProxy('caddy') ?? 'caddy', 'run', '--adapter', 'caddyfile', '--config', config]
}

/** @throws when the example no longer contains the text to replace */
function replaceAll(text: string, replacements: readonly (readonly [string, string])[]): string {
  return replacements.reduce((result, [from, to]) => {
    if (!result.includes(from)) throw new Error(`the example no longer has: ${from}`)
    return result.replaceAll(from, to)
  }, text)
}

const listens = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })

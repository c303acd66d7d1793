import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request as ask, createServer, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, createServer as createNetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from './index.ts'

export type TestRegistry = { host: string; stop(): Promise<void> }
/** As in the htpasswd line below: bcrypt of "correct horse" with a low cost. */
export const registryUser = { user: 'ada', token: 'correct horse' }
const htpasswd = 'ada:$2b$05$abcdefghijklmnopqrstuuHNbAKRhpaujgo33bRWs.NLUTJO3lOy2'

/** A real docker-registry (Debian's) on loopback, optionally behind basic credentials. */
export async function startRegistry(options: { basicAuth?: boolean } = {}): Promise<TestRegistry> {
  const folder = mkdtempSync(join(tmpdir(), 'crux-registry-'))
  const port = await freePort()
  writeFileSync(join(folder, 'htpasswd'), `${htpasswd}\n`)
  writeFileSync(
    join(folder, 'config.yml'),
    [
      'version: 0.1',
      'log: { level: error, accesslog: { disabled: true } }',
      `storage: { filesystem: { rootdirectory: ${folder}/data } }`,
      `http: { addr: "127.0.0.1:${port}", secret: ${randomBytes(8).toString('hex')} }`,
      ...(options.basicAuth ? [`auth: { htpasswd: { realm: test, path: ${folder}/htpasswd } }`] : []),
    ].join('\n'),
  )
  const process: ChildProcess = spawn('docker-registry', ['serve', join(folder, 'config.yml')], { stdio: 'ignore' })
  const ended = new Promise((resolve) => process.on('exit', resolve))
  const host = `127.0.0.1:${port}`
  await until(
    () =>
      fetch(`http://${host}/v2/`).then(
        () => true,
        () => false,
      ),
    10_000,
  )
  return {
    host,
    async stop() {
      process.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export type PushedImage = { name: string; tag: string; labels?: Record<string, string>; created?: string }

/** Pushes an image without layers by the distribution API: enough for names, tags, dates and labels. */
export async function pushImage(
  host: string,
  image: PushedImage,
  access?: { user: string; token: string },
): Promise<void> {
  const authorization = access && `Basic ${Buffer.from(`${access.user}:${access.token}`).toString('base64')}`
  const headers = (type: string): Record<string, string> => ({
    'content-type': type,
    ...(authorization && { authorization }),
  })
  const config = Buffer.from(
    JSON.stringify({
      architecture: 'amd64',
      os: 'linux',
      created: image.created ?? '2026-01-02T03:04:05Z',
      config: { Labels: image.labels ?? {} },
      rootfs: { type: 'layers', diff_ids: [] },
    }),
  )
  const digest = `sha256:${createHash('sha256').update(config).digest('hex')}`
  const begun = await fetch(`http://${host}/v2/${image.name}/blobs/uploads/`, {
    method: 'POST',
    headers: headers('application/octet-stream'),
  })
  const upload = new URL(begun.headers.get('location') ?? '', `http://${host}`)
  upload.searchParams.set('digest', digest)
  const stored = await fetch(upload, { method: 'PUT', body: config, headers: headers('application/octet-stream') })
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: 'application/vnd.docker.distribution.manifest.v2+json',
    config: { mediaType: 'application/vnd.docker.container.image.v1+json', size: config.length, digest },
    layers: [],
  })
  const pushed = await fetch(`http://${host}/v2/${image.name}/manifests/${image.tag}`, {
    method: 'PUT',
    body: manifest,
    headers: headers('application/vnd.docker.distribution.manifest.v2+json'),
  })
  if (!stored.ok || !pushed.ok) throw new Error(`the push of ${image.name} failed: ${stored.status} ${pushed.status}`)
}

export type TokenRegistry = TestRegistry & { realmCalls: { authorization: string | undefined; scope: string | null }[] }

/**
 * A registry that signs in by tokens (distribution specification, token authentication): our own gate and realm before the real
 * registry. `realm` may name another place, as a hostile registry would.
 */
export async function startTokenRegistry(
  behind: TestRegistry,
  options: { realm?: string } = {},
): Promise<TokenRegistry> {
  const realmCalls: TokenRegistry['realmCalls'] = []
  const tokens = new Map<string, string>()
  const expected = `Basic ${Buffer.from(`${registryUser.user}:${registryUser.token}`).toString('base64')}`
  const server: Server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? '/', 'http://gate')
    const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
      outgoing.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    if (url.pathname === '/token') {
      const { authorization } = incoming.headers
      const scope = url.searchParams.get('scope')
      realmCalls.push({ authorization, scope })
      if (authorization !== expected) return json(401, { errors: [{ code: 'UNAUTHORIZED' }] })
      const token = randomBytes(16).toString('hex')
      tokens.set(token, scope ?? '')
      return json(200, { token, expires_in: 300 })
    }
    const wanted = scopeOf(url.pathname)
    const token = /^Bearer (.+)$/.exec(incoming.headers.authorization ?? '')?.[1]
    const granted = token === undefined ? undefined : tokens.get(token)
    if (granted === undefined || (wanted !== '' && granted !== wanted)) {
      const realm = options.realm ?? `http://${incoming.headers.host}/token`
      const challenge = `Bearer realm="${realm}",service="test registry"${wanted && `,scope="${wanted}"`}`
      return json(
        401,
        { errors: [{ code: 'UNAUTHORIZED' }] },
        { 'www-authenticate': challenge, 'docker-distribution-api-version': 'registry/2.0' },
      )
    }
    pass(incoming, behind.host).then(
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(outgoing)
      },
      () => json(502, {}),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    realmCalls,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function scopeOf(path: string): string {
  if (path === '/v2/_catalog') return 'registry:catalog:*'
  const name = /^\/v2\/(.+)\/(tags|manifests|blobs)\//.exec(path)?.[1]
  return name ? `repository:${name}:pull` : ''
}

const pass = (incoming: IncomingMessage, host: string) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const { authorization: _, host: __, ...headers } = incoming.headers
    ask(`http://${host}${incoming.url}`, { method: incoming.method, headers }, resolve).on('error', reject).end()
  })

async function freePort(): Promise<number> {
  const server = createNetServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

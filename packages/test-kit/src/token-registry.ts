import { randomBytes } from 'node:crypto'
import { request as ask, createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Registry, registryAccount } from './registry.ts'

export type TokenRegistry = {
  host: string
  realmCalls: { authorization: string | undefined; scope: string | null }[]
  /** All requests except those for tokens: "HEAD /v2/web/manifests/1", and the user agent. */
  requests: { line: string; userAgent: string }[]
  stop: () => Promise<void>
}

/**
 * A registry with token authentication (distribution specification): a proxy with a realm in front of the real registry. `realm` may name another
 * address, like a malicious registry. `answer` may answer a request instead of the registry, or leave it unanswered: then it returns true.
 */
export async function startTokenRegistry(
  behind: Registry,
  options: {
    realm?: string
    /** The account that may sign in; null accepts everyone without a token. */
    account?: { user: string; token: string } | null
    /** Headers of the registry that are not passed on. */
    without?: string[]
    answer?: (incoming: IncomingMessage, outgoing: ServerResponse) => boolean
  } = {},
): Promise<TokenRegistry> {
  const realmCalls: TokenRegistry['realmCalls'] = []
  const requests: TokenRegistry['requests'] = []
  const tokens = new Map<string, string>()
  const account = options.account === undefined ? registryAccount : options.account
  const expected = account && `Basic ${Buffer.from(`${account.user}:${account.token}`).toString('base64')}`
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
    requests.push({ line: `${incoming.method} ${url.pathname}`, userAgent: incoming.headers['user-agent'] ?? '' })
    if (options.answer?.(incoming, outgoing)) return
    const wanted = getScope(url.pathname)
    const token = /^Bearer (.+)$/.exec(incoming.headers.authorization ?? '')?.[1]
    const granted = token === undefined ? undefined : tokens.get(token)
    if (account && (granted === undefined || (wanted !== '' && granted !== wanted))) {
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
        for (const name of options.without ?? []) delete answer.headers[name]
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
    requests,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function getScope(path: string): string {
  if (path === '/v2/_catalog') return 'registry:catalog:*'
  const name = /^\/v2\/(.+)\/(tags|manifests|blobs)\//.exec(path)?.[1]
  return name ? `repository:${name}:pull` : ''
}

const pass = (incoming: IncomingMessage, host: string) =>
  new Promise<IncomingMessage>((resolve, reject) => {
    const { authorization: _, host: __, ...headers } = incoming.headers
    ask(`http://${host}${incoming.url}`, { method: incoming.method, headers }, resolve).on('error', reject).end()
  })

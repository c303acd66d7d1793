import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export const hubAccount = { user: 'ada', token: 'correct horse' }

/** A server with the documented responses of Docker Hub's own API: organisations, people, sign-in, repositories, tags. */
export async function startHub() {
  const repositories = Array.from({ length: 130 }, (_, index) => `image-${index}`)
  const tags = [
    {
      name: 'latest',
      last_updated: '2026-05-06T07:08:09.123456Z',
      digest: `sha256:${'a'.repeat(64)}`,
      full_size: 4711,
      images: [
        { os: 'linux', architecture: 'amd64', variant: null, size: 4711 },
        { os: 'linux', architecture: 'arm', variant: 'v7', size: 4700 },
        { os: 'unknown', architecture: 'unknown', size: 12 },
      ],
    },
    { name: '1.0', last_updated: null },
  ]
  let busy = 0
  const server = createServer(async (incoming, outgoing) => {
    const url = new URL(incoming.url ?? '/', 'http://hub')
    const answer = (status: number, body: unknown, headers: Record<string, string> = {}) =>
      outgoing.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    if (busy > 0) {
      busy--
      return answer(429, { detail: 'too many requests' }, { 'retry-after': '60' })
    }
    const page = (all: unknown[]) => {
      const [size, number] = [Number(url.searchParams.get('page_size')), Number(url.searchParams.get('page') ?? 1)]
      const results = all.slice((number - 1) * size, number * size)
      return answer(200, {
        count: all.length,
        next: number * size < all.length ? 'http://elsewhere.example/next' : null,
        results,
      })
    }
    const signedIn = incoming.headers.authorization === 'JWT hub-token'
    switch (url.pathname) {
      case '/v2/users/login': {
        let text = ''
        for await (const chunk of incoming) text += String(chunk)
        const { username, password } = JSON.parse(text) as { username: string; password: string }
        return username === hubAccount.user && password === hubAccount.token
          ? answer(200, { token: 'hub-token' })
          : answer(401, {})
      }
      case '/v2/orgs/crux':
        return answer(200, { orgname: 'crux' })
      case '/v2/users/person':
        return answer(200, { username: 'person' })
      case '/v2/repositories/crux/':
        return page(repositories.map((name) => ({ name, is_private: false })))
      case '/v2/repositories/person/':
        return page(signedIn ? [{ name: 'secret-app', is_private: true }] : [])
      case '/v2/repositories/crux/image-1/tags':
        return page(tags)
      default:
        return answer(404, { message: 'object not found' })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Makes the next responses "too many requests". */
    beBusy: (times: number) => {
      busy = times
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

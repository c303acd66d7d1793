import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A registry that only lists the given names of images, which may be more than a real registry gets by pushes in a test. */
export async function startListRegistry(names: readonly string[]) {
  let limited: string | undefined
  const server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? '/', 'http://registry')
    const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
      outgoing.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    if (limited !== undefined) return json(429, { errors: [{ code: 'TOOMANYREQUESTS' }] }, { 'retry-after': limited })
    if (url.pathname.endsWith('/tags/list')) return json(200, { tags: ['1.0'] })
    if (url.pathname !== '/v2/_catalog') return json(url.pathname === '/v2/' ? 200 : 404, {})
    const last = url.searchParams.get('last')
    const start = last === null ? 0 : names.indexOf(last) + 1
    const page = names.slice(start, start + 1_000)
    const next = start + page.length < names.length
    return json(
      200,
      { repositories: page },
      next ? { link: `</v2/_catalog?n=1000&last=${page.at(-1)}>; rel="next"` } : {},
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Refuses all requests with this `Retry-After`; undefined accepts them again. */
    limit: (retryAfter: string | undefined) => {
      limited = retryAfter
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

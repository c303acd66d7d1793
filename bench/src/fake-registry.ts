import { createServer } from 'node:http'

export type FakeRegistry = {
  url: string
  /** When each request for a manifest arrived, by `performance.now()`. */
  manifestRequests: number[]
  stop: () => Promise<void>
}

/** A registry that holds nothing and answers at once, so that a bench measures Crux alone: each image has the same tags and one digest. */
export async function startFakeRegistry(
  tags: readonly string[],
  images: readonly string[] = [],
): Promise<FakeRegistry> {
  const manifestRequests: number[] = []
  const digest = `sha256:${'a'.repeat(64)}`
  const server = createServer((incoming, outgoing) => {
    const json = (body: unknown, headers: Record<string, string> = {}) =>
      outgoing.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    const url = new URL(incoming.url ?? '/', 'http://registry')
    if (url.pathname === '/v2/_catalog') return json({ repositories: images })
    if (url.pathname.endsWith('/tags/list')) {
      const start = Number(url.searchParams.get('last') ?? 0)
      const next = start + 1_000
      const link = `<${url.pathname}?n=1000&last=${next}>; rel="next"`
      return json({ tags: tags.slice(start, next) }, next < tags.length ? { link } : {})
    }
    if (url.pathname.includes('/blobs/'))
      return json({ os: 'linux', architecture: 'amd64', created: '2026-01-02T03:04:05Z', config: {} })
    if (!url.pathname.includes('/manifests/')) return json({})
    manifestRequests.push(performance.now())
    return json(
      { schemaVersion: 2, config: { digest }, layers: [{ size: 4_711 }] },
      { 'content-type': 'application/vnd.oci.image.manifest.v1+json', 'docker-content-digest': digest },
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('the registry has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    manifestRequests,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

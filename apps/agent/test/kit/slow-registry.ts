import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { Registry } from '@crux/test-kit'

/** A second address of a registry, at which layers of images arrive only when they are released. */
export async function openSlowRegistry(registry: Registry) {
  const blocked: (() => void)[] = []
  let isReleased = false
  const server = createServer((incoming, outgoing) => {
    const forward = () => {
      const { headers, method, url } = incoming
      const target = request(`${registry.url}${url}`, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(outgoing)
      })
      target.on('error', () => outgoing.destroy())
      incoming.pipe(target)
    }
    if (isReleased || !incoming.url?.includes('/blobs/')) forward()
    else blocked.push(forward)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  return {
    port,
    host: `localhost:${port}`,
    block() {
      isReleased = false
    },
    release() {
      isReleased = true
      for (const forward of blocked.splice(0)) forward()
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

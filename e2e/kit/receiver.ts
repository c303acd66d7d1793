import { createServer } from 'node:http'
import { freePort } from '@crux/test-kit'

/** A webhook target on loopback that keeps what it gets. */
export async function startReceiver() {
  const received: { path: string; body: string }[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += String(part)
    received.push({ path: request.url ?? '', body })
    response.writeHead(204).end()
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    stop: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

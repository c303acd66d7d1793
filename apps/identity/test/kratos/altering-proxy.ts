import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Alterable {
  status: number
  headers: IncomingHttpHeaders
  body: string
}

/** Starts a proxy in front of a service that changes its answers. */
export async function startAlteringProxy(
  target: string,
  alter: (answer: Alterable) => Alterable,
): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((asked, reply) => {
    const { method, headers: given, url } = asked
    const passed = request(
      new URL(url ?? '/', target),
      {
        method,
        // The service answers only requests for its own host.
        headers: { ...given, host: new URL(target).host },
      },
      async (answer) => {
        const chunks: Buffer[] = await answer.toArray()
        const body = Buffer.concat(chunks).toString()
        const altered = alter({ status: answer.statusCode ?? 500, headers: { ...answer.headers }, body })
        const length = Buffer.byteLength(altered.body)
        const headers = Object.entries(altered.headers).filter(([, value]) => value !== undefined)
        const sized = length > 0 ? { 'content-length': length } : {}
        reply.writeHead(altered.status, { ...Object.fromEntries(headers), ...sized }).end(altered.body)
      },
    )
    asked.pipe(passed)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

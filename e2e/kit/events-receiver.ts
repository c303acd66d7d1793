import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ReceivedEvent = { event: string; properties: Record<string, unknown>; [name: string]: unknown }

/** A service of ours in place of the analytics: keeps what browsers send, and names every path that they asked for. */
export async function startEventsReceiver() {
  const events: ReceivedEvent[] = []
  /** What is sent around the events. */
  const envelopes: Record<string, unknown>[] = []
  const paths: string[] = []
  let status = 200
  const server = createServer(async (request, response): Promise<unknown> => {
    response.setHeader('access-control-allow-origin', '*')
    if (request.method === 'OPTIONS') return response.writeHead(204, { 'access-control-allow-headers': '*' }).end()
    paths.push(new URL(request.url ?? '', 'http://receiver').pathname)
    let body = ''
    for await (const part of request) body += String(part)
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
    if (status !== 200 || body === '') return undefined
    const { batch, ...envelope } = JSON.parse(body) as { batch: ReceivedEvent[] }
    envelopes.push(envelope)
    return events.push(...batch)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    events,
    envelopes,
    paths,
    answerWith(next: number) {
      status = next
    },
    stop: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}

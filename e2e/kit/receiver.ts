import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export type Received = { path: string; headers: IncomingHttpHeaders; body: string; status: number }
export type Receiver = {
  url: string
  /** All requests so far, each with the status that it was answered with. */
  received: Received[]
  /** What further requests are answered with. */
  answerWith: (status: number) => void
  close: () => Promise<void>
}

/** A server that takes what notifications send, as a customer would write it. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = []
  let status = 204
  const server = createServer(async (request, response) => {
    const body = await text(request)
    received.push({ path: request.url ?? '', headers: request.headers, body, status })
    response.writeHead(status).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answerWith: (next) => {
      status = next
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Whether the signature of a request is that of its timestamp and its body. */
export function isSigned({ headers, body }: Received, secret: string): boolean {
  const expected = createHmac('sha256', secret).update(`${headers['x-crux-timestamp']}.${body}`).digest('hex')
  return headers['x-crux-signature'] === `sha256=${expected}`
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type ServiceRequest = {
  method: string
  url: URL
  headers: IncomingMessage['headers']
  body: string
}
export type ServiceAnswer = { status: number; body: unknown; headers?: Record<string, string> }

/** A server on loopback that answers JSON, in place of a service that cannot run here. It records what it was asked. */
export async function startJsonService(answer: (request: ServiceRequest) => ServiceAnswer) {
  const requests: ServiceRequest[] = []
  let intercept: (url: URL, outgoing: ServerResponse) => boolean = () => false
  const server = createServer(async (incoming, outgoing) => {
    let body = ''
    for await (const chunk of incoming) body += String(chunk)
    const url = new URL(incoming.url ?? '/', `http://${incoming.headers.host}`)
    const request = { method: incoming.method ?? 'GET', url, headers: incoming.headers, body }
    requests.push(request)
    if (intercept(url, outgoing)) return
    const given = answer(request)
    outgoing
      .writeHead(given.status, { 'content-type': 'application/json', ...given.headers })
      .end(JSON.stringify(given.body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    /** Answers in place of the service where it returns true, also with what is no HTTP. */
    intercept: (next: typeof intercept) => {
      intercept = next
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** One page of a list in the way of GitHub and GitLab: `page` and `per_page`, and a `Link` header. */
export function getPage(url: URL, all: unknown[]): { rows: unknown[]; page: number; last: number; link: string } {
  const size = Number(url.searchParams.get('per_page') ?? 20)
  const page = Number(url.searchParams.get('page') ?? 1)
  const last = Math.max(1, Math.ceil(all.length / size))
  const to = (number: number, rel: string) => {
    const target = new URL(url)
    target.searchParams.set('page', String(number))
    return `<${target.href}>; rel="${rel}"`
  }
  const link = page < last ? [to(page + 1, 'next'), to(last, 'last')].join(', ') : ''
  return { rows: all.slice((page - 1) * size, page * size), page, last, link }
}

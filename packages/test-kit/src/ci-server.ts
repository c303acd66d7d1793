import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export type CiRequest = {
  method: string
  path: string
  query: URLSearchParams
  headers: Record<string, string | string[] | undefined>
  /** The parsed body; undefined without one. */
  body: unknown
}
export type CiAnswer = { status: number; body?: unknown; headers?: Record<string, string>; text?: string }
/** `hang` never answers. `cut` carries the request out and closes the connection before the answer. */
export type CiBehaviour = CiAnswer | 'hang' | 'cut' | undefined
export type CiHookDelivery = { status: number; text: string }

/**
 * The server of a service that runs pipelines, on loopback, with its documented answers. `behave` may answer a request in
 * place of the service.
 */
export async function startCiServer(answer: (request: CiRequest) => CiAnswer) {
  const requests: CiRequest[] = []
  let behave: (request: CiRequest) => CiBehaviour | Promise<CiBehaviour> = () => undefined
  const server = createServer(async (incoming, outgoing) => {
    let text = ''
    for await (const part of incoming) text += String(part)
    const url = new URL(incoming.url ?? '/', 'http://ci')
    const request: CiRequest = {
      method: incoming.method ?? 'GET',
      path: decodeURI(url.pathname),
      query: url.searchParams,
      headers: incoming.headers,
      body: text === '' ? undefined : JSON.parse(text),
    }
    requests.push(request)
    const behaviour = await behave(request)
    if (behaviour === 'hang') return
    if (behaviour === 'cut') {
      answer(request)
      return outgoing.destroy()
    }
    const { status, body, headers, text: raw } = behaviour ?? answer(request)
    outgoing.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers })
    outgoing.end(raw ?? (body === undefined ? '' : JSON.stringify(body)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    /** The requests with this method whose path ends like this. */
    find: (method: string, end: string | RegExp) =>
      requests.filter(
        (one) => one.method === method && (typeof end === 'string' ? one.path.endsWith(end) : end.test(one.path)),
      ),
    behave: (next: typeof behave = () => undefined) => {
      behave = next
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Sends a delivery of a hook, as the service would. */
export async function deliver(url: string, body: string, headers: Record<string, string>): Promise<CiHookDelivery> {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  })
  return { status: response.status, text: await response.text() }
}

import { Agent, request } from 'node:http'

export type RawAnswer = { status: number; headers: Record<string, string | string[] | undefined>; text: string }

/** Sends requests unchanged over kept connections: no normalized address, no added header. */
export function rawRequester(origin: string, options: { timeoutMs?: number } = {}) {
  const { hostname, port } = new URL(origin)
  const agent = new Agent({ keepAlive: true, maxSockets: 4 })
  const { timeoutMs = 20_000 } = options
  return {
    /** @throws Error when no answer came in time */
    send: (wanted: { method: string; target: string; headers: Record<string, string>; body?: string | undefined }) =>
      new Promise<RawAnswer>((resolve, reject) => {
        const length = wanted.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(wanted.body)) }
        const headers = { ...wanted.headers, ...length }
        const call = request(
          { hostname, port, agent, method: wanted.method, path: wanted.target, headers },
          (answer) => {
            const parts: Buffer[] = []
            answer.on('data', (part: Buffer) => parts.push(part))
            answer.on('end', () => {
              clearTimeout(timer)
              resolve({
                status: answer.statusCode ?? 0,
                headers: answer.headers,
                text: Buffer.concat(parts).toString(),
              })
            })
            answer.on('error', reject)
          },
        )
        const timer = setTimeout(() => call.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
        call.on('error', (error) => {
          clearTimeout(timer)
          reject(error)
        })
        // A malformed body is sent as bytes: a lone surrogate becomes a replacement character.
        call.end(wanted.body)
      }),
    close: () => agent.destroy(),
  }
}

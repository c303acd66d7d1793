import { Agent, request } from 'node:http'

/** Requests per second of `lanes` keep-alive connections that send the next request after each answer, for `ms` milliseconds. */
export async function throughput(
  url: string,
  headers: Record<string, string>,
  options: { lanes: number; ms: number },
): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: options.lanes })
  const end = performance.now() + options.ms
  let answered = 0
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      const call = request(url, { agent, headers }, (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`${url}: ${answer.statusCode}`))
        answer.resume()
        answer.on('end', resolve)
      })
      call.on('error', reject)
      call.end()
    })
  await Promise.all(
    Array.from({ length: options.lanes }, async () => {
      while (performance.now() < end) {
        await ask()
        answered++
      }
    }),
  )
  agent.destroy()
  return answered / (options.ms / 1_000)
}

import { waitFor } from '@crux/test-kit'

/** The answer of a service on a host port, undefined while it does not answer. */
export async function toAnswer(port: number): Promise<string | undefined> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(2_000),
    })
    return (await answer.text()).trim()
  } catch {
    return undefined
  }
}

export const answers = (port: number, text: string): Promise<true> =>
  waitFor(`${port} answers ${text}`, async () => (await toAnswer(port)) === text && (true as const))

/** Requests the service again and again, and counts the requests that fail or are answered with another text. */
export function countRequests(port: number, texts: readonly string[]) {
  const counts = { all: 0, failed: 0 }
  let stopped = false
  const requests = (async () => {
    while (!stopped) {
      const answer = await toAnswer(port)
      counts.all++
      if (answer === undefined || !texts.includes(answer)) counts.failed++
    }
  })()
  return {
    async stop() {
      stopped = true
      await requests
      return counts
    },
  }
}

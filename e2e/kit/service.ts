import { waitFor } from '@crux/test-kit'

/** The answer of a service on a port of this host or on `host:port`, undefined while it does not answer. */
export async function toAnswer(at: number | string): Promise<string | undefined> {
  try {
    const answer = await fetch(`http://${typeof at === 'number' ? `127.0.0.1:${at}` : at}/`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(2_000),
    })
    return (await answer.text()).trim()
  } catch {
    return undefined
  }
}

export const answers = (at: number | string, text: string): Promise<true> =>
  waitFor(`${at} answers ${text}`, async () => (await toAnswer(at)) === text && (true as const))

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

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

import { waitUntil } from './wait-until.ts'

/**
 * Waits for the answer of a web server, which may begin to listen after its container runs, and which a cluster's node reaches after the
 * cluster says that its pods are available or gone.
 *
 * @param wanted any answer that is not empty when it is missing
 * @returns the answer without the white space around it
 */
export async function waitForAnswer(url: string, wanted?: string): Promise<string> {
  let last = ''
  const isAnswered = async () => {
    const limits = { headers: { connection: 'close' }, signal: AbortSignal.timeout(5_000) }
    const answer = await fetch(url, limits)
      .then((response) => response.text())
      .catch((error: Error) => {
        last = String(error.cause ?? error)
      })
    if (answer === undefined) return undefined
    last = answer.trim()
    return wanted === undefined || last === wanted ? last : undefined
  }
  return waitUntil(() => `${url} answers ${wanted ?? ''}, last: ${last}`, isAnswered)
}

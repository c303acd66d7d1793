import { type Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { type Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { guarded } from '@crux/service-kit'
import { findRefusedAddress, judgedLookup } from './judged-lookup.ts'

/** A server that sends nothing for this long is unavailable. */
const unansweredMs = 60_000

type GetOptions = {
  agent: HttpAgent | HttpsAgent
  headers: Record<string, string>
  signal: AbortSignal
  /** What is asked, in logs: "a registry". */
  what: string
  /** For an address that must not be asked. */
  toAddressError: (address: string) => Error
  /** For an answer that does not come. */
  toConnectionError: (error: Error) => Error
}

/**
 * Asks an address that a user has configured. Its answer is read at the pace of the caller.
 *
 * @throws the reason of the signal, or what the options make of the failure
 */
export async function getJudged(url: URL, options: GetOptions): Promise<IncomingMessage> {
  const { agent, headers, signal, toAddressError, toConnectionError, what } = options
  signal.throwIfAborted()
  const refused = findRefusedAddress(url.hostname)
  if (refused) throw toAddressError(refused)
  const request = url.protocol === 'http:' ? requestHttp : requestHttps
  return new Promise((resolve, reject) => {
    const lookup = judgedLookup(toAddressError)
    const call = request(url, { agent, headers, lookup, signal, timeout: unansweredMs }, resolve)
    call.on(
      'timeout',
      guarded(what, () => void call.destroy(new Error('no answer in time'))),
    )
    call.on(
      'error',
      guarded(what, (error) => reject(signal.aborted ? signal.reason : toConnectionError(error))),
    )
    call.end()
  })
}

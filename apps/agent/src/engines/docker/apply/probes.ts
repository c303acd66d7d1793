import { get } from 'node:http'
import { guarded } from '@crux/service-kit'
import { pause } from '../../../concurrency/pause.ts'
import { getMessage } from '../../../errors.ts'
import type { HttpProbe } from '../../expectation.ts'
import type { ObservedContainer } from '../containers/container-engine.ts'

const probeEveryMs = 250
/** From the connection to the end of the headers, even if they arrive slowly. */
const probeTimeoutMs = 2_000
/** The agent reads a body only so that the service can finish writing a short one; its content is ignored. */
const bodyBytesMax = 64 * 1_024

export interface PendingProbe extends HttpProbe {
  /** Why the last attempt failed; empty before the first attempt ended. */
  lastFailure: string
}

export interface Probes {
  /** Sets the address, which is known when the container runs. */
  aim(seen: ObservedContainer): void
  pending(): PendingProbe | undefined
  /** Resolves when the last probe has succeeded; never if it had already succeeded before the call. */
  passed(): Promise<void>
  close(): void
}

/**
 * Sends HTTP requests to the container until each probe has succeeded once; the agent sends them because images may lack curl. Every error
 * of an attempt, inside the agent or from an answer that is not HTTP, is a failed attempt: the service is not trusted.
 */
export function startProbes(probes: readonly HttpProbe[]): Probes {
  const closing = new AbortController()
  const aimed = Promise.withResolvers<string>()
  let current = 0
  let lastFailure = ''
  let notify: () => void = () => undefined

  async function run(): Promise<void> {
    const address = await aimed.promise
    for (;;) {
      const probe = probes[current]
      if (closing.signal.aborted || !probe) return
      try {
        await attempt(address, probe, closing.signal)
        current += 1
        lastFailure = ''
        if (current === probes.length) notify()
      } catch (error) {
        lastFailure = getMessage(error)
        await pause(probeEveryMs, closing.signal)
      }
    }
  }
  // It ends early only because it was closed.
  run().catch(() => undefined)

  return {
    aim(seen) {
      if (seen.state !== 'running') return
      const address = seen.hostNetwork
        ? '127.0.0.1'
        : (seen.networks.find((network) => network.address !== '')?.address ?? '')
      if (address !== '') aimed.resolve(address)
    },
    pending() {
      const probe = probes[current]
      return probe && { ...probe, lastFailure }
    },
    passed: () =>
      new Promise<void>((resolve) => {
        if (current < probes.length) notify = resolve
      }),
    close() {
      closing.abort()
      aimed.resolve('')
    },
  }
}

/**
 * Sends one request. The status line decides: 2xx and 3xx succeed, as for an httpGet probe of Kubernetes. A redirect is not followed,
 * because it may point to any address.
 *
 * @throws Error with the reason, in a few words
 */
function attempt(host: string, probe: HttpProbe, signal: AbortSignal): Promise<void> {
  const deadline = AbortSignal.timeout(probeTimeoutMs)
  return new Promise((resolve, reject) => {
    const request = get(
      {
        host,
        port: probe.port,
        path: toRequestPath(probe.path),
        agent: false,
        signal: AbortSignal.any([signal, deadline]),
        headers: { connection: 'close', 'user-agent': 'crux-agent' },
      },
      guarded('the answer to a probe', (response) => {
        let received = 0
        response.on('error', () => undefined)
        response.on(
          'data',
          guarded('the body of a probe', (chunk: Buffer) => {
            received += chunk.length
            if (received > bodyBytesMax) request.destroy()
          }),
        )
        const status = response.statusCode ?? 0
        if (status >= 200 && status < 400) resolve()
        else reject(new Error(`it answered ${status}`))
      }),
    )
    request.on(
      'error',
      guarded('the end of a probe', (error) => reject(deadline.aborted ? new Error('no answer in time') : error)),
    )
    // The connection ended without an answer, for example by a change to another protocol.
    request.on('close', () => reject(new Error('it closed the connection without an answer')))
  })
}

/** The rules restrict paths to printable ASCII. A release that did not pass them may contain any character, and Node would throw for it. */
export function toRequestPath(path: string): string {
  return path.toWellFormed().replace(/[^\x21-\x7e]/gu, encodeURIComponent)
}

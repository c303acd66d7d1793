import type { Outbound } from '@crux/service-kit'
import type { CustomFetch } from 'openid-client'

/** Adapts the outbound client to the interface of fetch: addresses in the documents of a provider are untrusted and need the same checks. */
export function outboundFetch(outbound: Outbound): CustomFetch {
  return async (url, { method, headers, body }) => {
    const answer = await outbound.request(url, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      ...(body === null || body === undefined ? {} : { body: String(body) }),
      timeoutMs: 15_000,
      maxBytes: 1024 * 1024,
    })
    const kept = new Headers()
    for (const [name, value] of Object.entries(answer.headers))
      if (value !== undefined) kept.set(name, Array.isArray(value) ? value.join(', ') : value)
    const empty = answer.status === 204 || answer.status === 304
    return new Response(empty ? null : new Uint8Array(answer.body), { status: answer.status, headers: kept })
  }
}

import type { IncomingHttpHeaders } from 'node:http'
import { CruxError } from '@crux/contract'

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Browsers send cookies with requests from any page. A change is therefore refused when the browser names another
 * origin than ours; if it names none, SameSite and the flow's own token protect.
 *
 * @throws CruxError forbidden
 */
export function refuseForeignOrigin(method: string, headers: IncomingHttpHeaders, accepted: ReadonlySet<string>): void {
  if (safeMethods.has(method) || headers.cookie === undefined) return
  if (isForeign(headers, accepted))
    throw new CruxError('forbidden', {
      property: 'origin',
      description: 'This request came from a page of another site.',
    })
}

export function isForeign(headers: IncomingHttpHeaders, accepted: ReadonlySet<string>): boolean {
  const { origin } = headers
  if (origin !== undefined) return !accepted.has(origin)
  const site = headers['sec-fetch-site']
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

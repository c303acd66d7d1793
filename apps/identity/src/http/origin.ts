const loopbackHosts = ['localhost', '127.0.0.1', '[::1]']

/** The origins a browser may come from: that of the console, and on loopback its other names at the same port. */
export function acceptedOrigins(consoleUrl: string): ReadonlySet<string> {
  const url = new URL(consoleUrl)
  const origins = new Set([url.origin])
  if (loopbackHosts.includes(url.hostname)) {
    const port = url.port === '' ? '' : `:${url.port}`
    for (const host of loopbackHosts) origins.add(`${url.protocol}//${host}${port}`)
  }
  return origins
}

/**
 * Whether a browser says that a request comes from another site. Where it says nothing (old browsers, no browser),
 * SameSite cookies and the csrf token hold.
 */
export function isForeign(
  headers: { origin?: string | undefined; 'sec-fetch-site'?: string | string[] | undefined },
  accepted: ReadonlySet<string>,
): boolean {
  const { origin } = headers
  // `null` is the origin of a page that hides where it comes from: none of ours does.
  if (origin !== undefined) return !accepted.has(origin)
  const site = headers['sec-fetch-site']
  return site === 'cross-site' || site === 'same-site'
}

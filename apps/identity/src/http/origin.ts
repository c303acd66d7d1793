const loopbackHosts = ['localhost', '127.0.0.1', '[::1]']

/** The accepted origins of a browser: that of the console, and on loopback the other loopback names with the same port. */
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
 * Whether the headers of a browser show that a request comes from another site. Without these headers (old browsers, other clients), SameSite cookies
 * and the csrf token protect the request.
 */
export function isForeign(
  headers: { origin?: string | undefined; 'sec-fetch-site'?: string | string[] | undefined },
  accepted: ReadonlySet<string>,
): boolean {
  const { origin } = headers
  // Pages that hide their origin send `null`. No page of Crux does this.
  if (origin !== undefined) return !accepted.has(origin)
  const site = headers['sec-fetch-site']
  return site === 'cross-site' || site === 'same-site'
}

import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { CruxError } from '@crux/contract'
import proxyAddress from '@fastify/proxy-addr'
import type { FastifyInstance } from 'fastify'
import { type Config, loopbackNames } from '../config/index.ts'

/** Monitoring systems request these by the address of a container or a pod. They return nothing that needs a browser's session. */
const exceptedRoutes = new Set(['/health', '/health/ready', '/api/health', '/metrics'])

/**
 * Whether a request names this server. A page of another site can make its own host name resolve to this machine (DNS
 * rebinding); the browser then sends requests that have the page's origin, and only the host name reveals them.
 */
export type HostCheck = {
  /** @throws CruxError misdirectedRequest */
  assertOwnHost(request: IncomingMessage | Http2ServerRequest): void
}

/** @param url the current address, and `port` the port that is listened on: both are final only after listening */
export function createHostCheck(
  config: Pick<Config, 'trustedProxies' | 'tls'>,
  current: () => { url: string; port: number },
): HostCheck {
  const isTrusted = proxyAddress.compile([...config.trustedProxies])
  let accepted: { url: string; port: number; hosts: ReadonlySet<string> } | undefined

  function acceptedHosts(): ReadonlySet<string> {
    const { url, port } = current()
    if (accepted?.url !== url || accepted.port !== port)
      accepted = { url, port, hosts: toHosts(url, port, config.tls !== undefined) }
    return accepted.hosts
  }

  return {
    assertOwnHost(request) {
      const hosts = acceptedHosts()
      const named = namedHosts(request, (address) => isTrusted(address, 0))
      if (named.length > 0 && named.every((host) => hosts.has(host.toLowerCase()))) return
      throw new CruxError('misdirectedRequest', {
        property: 'host',
        description: `Crux answers at ${current().url} (CRUX_URL), and this request asks for another host. Open that address; a proxy in front has to pass the Host header on.`,
      })
    },
  }
}

/** Refuses requests for other hosts before any other handler, pages and files included. */
export function refuseOtherHosts(http: FastifyInstance, check: HostCheck): void {
  http.addHook('onRequest', (request, _reply, done) => {
    if (!exceptedRoutes.has(request.routeOptions.url ?? '')) check.assertOwnHost(request.raw)
    done()
  })
}

/** Host and port as the header writes them, with and without the port that the scheme implies. */
function toHosts(url: string, port: number, isTls: boolean): ReadonlySet<string> {
  const scheme = isTls ? 'https' : 'http'
  const addresses = [url, ...loopbackNames.map((name) => `${scheme}://${name}:${port}`)].map((text) => new URL(text))
  return new Set(
    addresses.flatMap(({ protocol, hostname, host, port: written }) =>
      written === '' ? [host, `${hostname}:${protocol === 'https:' ? 443 : 80}`] : [host],
    ),
  )
}

/**
 * Every host that a request names. All of them have to be ours, so that two readers on the way cannot pick different
 * ones. A header that occurs twice results in a host that matches none.
 */
function namedHosts(request: IncomingMessage | Http2ServerRequest, isTrusted: (address: string) => boolean): string[] {
  const { headers, rawHeaders } = request
  const named: string[] = []
  const forwarded = headers['x-forwarded-host']
  // The proxy next to this server wrote the last entry; the entries before it may come from anyone.
  if (forwarded !== undefined && isTrusted(request.socket.remoteAddress ?? ''))
    return [String(forwarded).split(',').at(-1)?.trim() ?? '']
  const count = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length
  if (count > 1) return ['']
  if (headers.host !== undefined) named.push(headers.host)
  const authority = headers[':authority']
  if (authority !== undefined) named.push(String(authority))
  // The absolute form (RFC 9112, 3.2.2) names a host in addition to the header.
  const target = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(request.url ?? '')?.[1]
  if (target !== undefined) named.push(target)
  return named
}

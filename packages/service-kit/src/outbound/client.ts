import { lookup } from 'node:dns/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import { Agent, request as send } from 'undici'
import type { Logger } from '../logger.ts'
import { embeddedV4, judgeAddress, makeAllowList } from './addresses.ts'
import { OutboundError, toOutboundError } from './errors.ts'

export interface OutboundRequest {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  headers?: Record<string, string>
  body?: string | Buffer
  /** The timeout of the whole exchange, including redirects and body. */
  timeoutMs?: number
  /** A longer body is an error; an answer is never truncated. */
  maxBytes?: number
  /** The maximum number of redirects. Each target is checked again, and credentials are sent only to their origin. */
  redirects?: number
}

export interface OutboundResponse {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
  /** The address of the answer after redirects. */
  url: string
}

export interface Outbound {
  /** @throws OutboundError */
  request(url: string, options?: OutboundRequest): Promise<OutboundResponse>
}

interface Address {
  address: string
  family: 4 | 6
}

/**
 * The client for all addresses that users enter. It resolves the name, checks every address and connects to exactly those, so that a second
 * resolution cannot return other addresses.
 *
 * @param options.allow `private` allows loopback and private ranges; a list allows only its ranges. Link-local and metadata addresses are always
 * refused
 * @param options.refusedPorts the ports of Crux, refused at every address of this machine; read at each request
 * @param options.resolve replaces DNS in tests
 */
export function createOutbound(options: {
  allow: 'private' | readonly string[]
  refusedPorts: readonly number[]
  log: Logger
  resolve?: (hostname: string) => Promise<Address[]>
}): Outbound {
  const listed = options.allow === 'private' ? () => true : makeAllowList(options.allow)
  const resolve = options.resolve ?? resolveAll

  async function listAddresses(url: URL): Promise<Address[]> {
    const hostname = url.hostname.replace(/^\[|\]$/g, '')
    const addresses: Address[] = isIP(hostname)
      ? [{ address: hostname, family: isIP(hostname) === 6 ? 6 : 4 }]
      : await resolveName(hostname)
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
    for (const { address } of addresses) {
      const verdict = judgeAddress(address)
      const ours = options.refusedPorts.includes(port) && isOwnAddress(address)
      if (verdict === 'never' || ours || (verdict === 'private' && !listed(address))) {
        options.log.warn({ host: url.host, address, verdict, ours }, 'refused an outbound request')
        throw new OutboundError('refused', `${url.host} is not an address that may be contacted`)
      }
    }
    return addresses
  }

  async function resolveName(hostname: string): Promise<Address[]> {
    const addresses = await resolve(hostname).catch((cause: unknown) => {
      throw new OutboundError('unresolved', `the name ${hostname} cannot be resolved`, { cause })
    })
    if (addresses.length === 0) throw new OutboundError('unresolved', `the name ${hostname} has no address`)
    return addresses
  }

  return {
    async request(target, request = {}) {
      const { timeoutMs = 10_000, maxBytes = 4 * 1024 * 1024, redirects = 0 } = request
      const signal = AbortSignal.timeout(timeoutMs)
      let url = parseUrl(target)
      let hop: OutboundRequest = request
      for (let followed = 0; ; followed++) {
        const addresses = await beforeAbort(signal, listAddresses(url), url)
        const response = await exchange(url, addresses, hop, { signal, maxBytes, timeoutMs })
        const location = redirects > 0 && isRedirect(response.status) ? response.headers.location : undefined
        if (location === undefined) return response
        if (followed >= redirects)
          throw new OutboundError('redirects', `${url.host} redirects more than ${redirects} times`)
        const next = parseUrl(location, url)
        hop = nextHop(hop, response.status, url, next)
        url = next
      }
    },
  }
}

async function exchange(
  url: URL,
  addresses: Address[],
  request: OutboundRequest,
  limits: { signal: AbortSignal; maxBytes: number; timeoutMs: number },
): Promise<OutboundResponse> {
  const dispatcher = new Agent({
    connect: { lookup: pinned(addresses), timeout: limits.timeoutMs },
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: Math.max(
      250,
      Math.min(3_000, Math.floor(limits.timeoutMs / (addresses.length + 1))),
    ),
    pipelining: 0,
    maxHeaderSize: 32 * 1024,
  })
  try {
    const response = await send(url, {
      dispatcher,
      method: request.method ?? 'GET',
      headers: { 'accept-encoding': 'identity', 'user-agent': 'crux/1.0', ...request.headers },
      body: request.body ?? null,
      signal: limits.signal,
    })
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of response.body) {
      size += chunk.length
      if (size > limits.maxBytes) {
        throw new OutboundError('tooLarge', `${url.host} answered with more than ${limits.maxBytes} bytes`)
      }
      chunks.push(chunk)
    }
    return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks), url: url.href }
  } catch (error) {
    throw toOutboundError(error, url)
  } finally {
    // Connections are not kept alive, because the next request has to check its addresses again.
    void dispatcher.destroy().catch(() => undefined)
  }
}

/** Answers lookups with all checked addresses, so that a name with an unreachable first address still connects. */
function pinned(addresses: Address[]): LookupFunction {
  return (_hostname, lookupOptions, callback) => {
    const [first] = addresses
    if (lookupOptions.all || !first) callback(null, addresses)
    else callback(null, first.address, first.family)
  }
}

function parseUrl(text: string, base?: URL): URL {
  const url = URL.canParse(text, base?.href) ? new URL(text, base?.href) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw new OutboundError('invalidUrl', 'not an http or https address')
  if (url.username || url.password) throw new OutboundError('invalidUrl', 'an address must not carry credentials')
  return url
}

function nextHop(hop: OutboundRequest, status: number, from: URL, to: URL): OutboundRequest {
  if (from.protocol === 'https:' && to.protocol === 'http:') {
    throw new OutboundError('redirects', `${from.host} redirects from https to http`)
  }
  const keepsMethod =
    status === 307 || status === 308 || hop.method === undefined || hop.method === 'GET' || hop.method === 'HEAD'
  const headers = Object.entries(hop.headers ?? {}).filter(([name]) => {
    const sensitive = /^(authorization|cookie|proxy-authorization|x-.*(token|key|secret).*)$/i.test(name)
    return !(sensitive && from.origin !== to.origin) && (keepsMethod || !/^content-/i.test(name))
  })
  const next: OutboundRequest = { ...hop, headers: Object.fromEntries(headers) }
  if (!keepsMethod) {
    next.method = 'GET'
    delete next.body
  }
  return next
}

const isRedirect = (status: number) => [301, 302, 303, 307, 308].includes(status)

async function resolveAll(hostname: string): Promise<Address[]> {
  const found = await lookup(hostname, { all: true, order: 'ipv4first' })
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))
}

/** Whether an address is this machine: loopback, or one of its interfaces. */
function isOwnAddress(address: string): boolean {
  const plain = embeddedV4(address) ?? address
  if (/^127\./.test(plain) || plain === '0.0.0.1' || address === '::1' || plain === '0.0.0.0') return true
  return Object.values(networkInterfaces()).some((entries) =>
    entries?.some((entry) => entry.address === plain || entry.address === address),
  )
}

/** DNS cannot be aborted, so the timeout of the caller is applied here. */
async function beforeAbort<T>(signal: AbortSignal, work: Promise<T>, url: URL): Promise<T> {
  let stop: (() => void) | undefined
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new OutboundError('timeout', `${url.host} did not answer in time`))
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop)
  })
  try {
    return await Promise.race([work, aborted])
  } finally {
    if (stop) signal.removeEventListener('abort', stop)
  }
}

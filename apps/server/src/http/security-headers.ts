import type { FastifyInstance } from 'fastify'
import type { Config } from '../config/index.ts'

/** What the settings allow beyond this origin. */
export type AllowedOrigins = {
  /** Those of the captcha's script and frames. */
  captcha?: readonly string[]
  /** Where usage data is sent. No script is loaded from there. */
  analytics?: string | undefined
}

/** Scripts come from this origin only; components write styles into the page, which cannot run code. */
export function contentSecurityPolicy(url: string, allowed: AllowedOrigins = {}): string {
  const { captcha: captchaOrigins = [], analytics } = allowed
  const { host, protocol } = new URL(url)
  const captcha = captchaOrigins.map((origin) => ` ${origin}`).join('')
  return [
    "default-src 'self'",
    `script-src 'self'${captcha}`,
    ...(captcha ? [`frame-src${captcha}`] : []),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    // Not every browser counts the socket of the same host as 'self'.
    `connect-src 'self' ${protocol === 'https:' ? 'wss' : 'ws'}://${host}${analytics ? ` ${analytics}` : ''}`,
    "worker-src 'self' blob:",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}

type Allowing = Pick<Config, 'captchaOrigins' | 'analytics'>

export function securityHeaders(http: FastifyInstance, url: () => string, config: Allowing): void {
  const allowed = { captcha: config.captchaOrigins, analytics: config.analytics?.host }
  let made: { url: string; headers: Record<string, string> } | undefined
  /** Built once, because the address changes at most once, when the port is known. */
  const headers = () => {
    if (made?.url !== url()) made = { url: url(), headers: createHeaders(url(), allowed) }
    return made.headers
  }
  // The hook uses a callback, because a promise for each response would cost more than the hook itself.
  http.addHook('onSend', (request, reply, payload, done) => {
    const policy = reply.getHeader('content-security-policy')
    reply.headers(headers())
    if (policy !== undefined) reply.header('content-security-policy', policy)
    reply.header('x-request-id', request.id)
    if (request.url.startsWith('/api') && !reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
    done(null, payload)
  })
}

/** The headers of every response. */
export function createHeaders(url: string, allowed: AllowedOrigins = {}): Record<string, string> {
  return {
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'strict-origin-when-cross-origin',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'content-security-policy': contentSecurityPolicy(url, allowed),
    ...(url.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000' }),
  }
}

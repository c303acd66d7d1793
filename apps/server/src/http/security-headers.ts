import type { FastifyInstance } from 'fastify'

/** Scripts come from this origin only; components write styles into the page, which cannot run anything. */
export function contentSecurityPolicy(url: string): string {
  const { host, protocol } = new URL(url)
  return [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    // Not every browser counts the socket of the same host as 'self'.
    `connect-src 'self' ${protocol === 'https:' ? 'wss' : 'ws'}://${host}`,
    "worker-src 'self' blob:",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')
}

export function securityHeaders(http: FastifyInstance, url: () => string): void {
  http.addHook('onSend', async (request, reply) => {
    reply.header('x-request-id', request.id)
    reply.header('x-content-type-options', 'nosniff')
    reply.header('referrer-policy', 'strict-origin-when-cross-origin')
    reply.header('x-frame-options', 'DENY')
    reply.header('cross-origin-opener-policy', 'same-origin')
    if (!reply.hasHeader('content-security-policy'))
      reply.header('content-security-policy', contentSecurityPolicy(url()))
    if (url().startsWith('https:')) reply.header('strict-transport-security', 'max-age=31536000')
    if (request.url.startsWith('/api') && !reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store')
  })
}

import { openApiDocument } from '@crux/contract'
import { type Health, isLoopbackUrl, type Metrics, metricsHandler } from '@crux/service-kit'
import type { FastifyInstance } from 'fastify'
import { swaggerPage, swaggerStyle } from './swagger-page.ts'

/** Routes of the process instead of the product: health, metrics, the description of the API. */
export function systemRoutes(
  http: FastifyInstance,
  options: { health: Health; metrics: Metrics; metricsToken: string | undefined; url: () => string; version: string },
): void {
  for (const [path, check] of [['/health', 'live'] as const, ['/health/ready', 'ready'] as const])
    http.get(path, async (_request, reply) => {
      const { statusCode, body } = await options.health[check]()
      return reply.code(statusCode).header('cache-control', 'no-store').send(body)
    })
  http.get('/metrics', (request, reply) =>
    metricsHandler({
      metrics: options.metrics,
      token: options.metricsToken,
      loopbackUrl: isLoopbackUrl(options.url()),
    })(request, reply),
  )

  // Both are built once, on the first request: it takes half a second, and anyone may request them.
  let document: string | undefined
  let page: string | undefined
  http.get('/api/openapi.json', async (_request, reply) => {
    document ??= JSON.stringify(openApiDocument(options.version))
    return reply.type('application/json').send(document)
  })
  // Existing consoles link to the documentation at the second address.
  for (const path of ['/api/swagger', '/basics/api'])
    http.get(path, async (_request, reply) => {
      page ??= swaggerPage(openApiDocument(options.version))
      return reply.type('text/html; charset=utf-8').send(page)
    })
  http.get('/api/swagger.css', async (_request, reply) => reply.type('text/css; charset=utf-8').send(swaggerStyle))
}

import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import type { RequestContext } from './request-context.ts'

export type Handler = (ctx: RequestContext) => Promise<unknown>

/** The handlers of a path by method. `any` accepts every method. */
export type Routes = Record<string, Partial<Record<'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'any', Handler>>>

const allMethods: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']

/**
 * Mounts `routes` with the behavior of Ory Kratos: other methods get 405 with `Allow`, OPTIONS lists the allowed methods without CORS headers, a
 * trailing slash is redirected to the path without it, and other paths get a plain 404.
 *
 * @param options.prefix requests without this prefix are redirected to the path that has it
 */
export function mount(
  app: FastifyInstance,
  routes: Routes,
  run: (handler: Handler) => Runner,
  options: { prefix?: string } = {},
): void {
  for (const [url, { any, ...handlers }] of Object.entries(routes)) {
    if (any) {
      app.route({ method: allMethods, url, handler: run(any) })
      continue
    }
    const methods = Object.keys(handlers)
    for (const [method, handler] of Object.entries(handlers)) {
      if (handler) app.route({ method, url, handler: run(handler), exposeHeadRoute: false })
    }
    const allow = [...methods, 'OPTIONS'].sort().join(', ')
    app.route({
      method: allMethods.filter((method) => !methods.includes(method)),
      url,
      handler: (request, reply) => {
        reply.removeHeader('cache-control').header('allow', allow)
        if (request.method === 'OPTIONS') return reply.code(200).send()
        return reply.code(405).type('text/plain; charset=utf-8').send('Method Not Allowed\n')
      },
    })
  }
  const patterns = Object.keys(routes).map((url) => new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`))
  app.setNotFoundHandler((request, reply) => {
    reply.removeHeader('cache-control')
    const [path = '', query] = request.url.split('?', 2)
    const trimmed = path.replace(/\/+$/, '')
    if (trimmed !== path && patterns.some((pattern) => pattern.test(trimmed)))
      return reply.redirect(query === undefined ? trimmed : `${trimmed}?${query}`, 301)
    if (options.prefix !== undefined && !path.startsWith(`${options.prefix}/`))
      return reply.redirect(options.prefix + request.url, 307)
    return reply.code(404).type('text/plain; charset=utf-8').send('404 page not found\n')
  })
}

type Runner = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CruxError } from '@crux/contract'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { toCruxError } from './errors.ts'

/** Paths that are never a page of the console. */
const notPages = /^\/(api|basics|kratos|health|metrics|assets|fonts)(\/|$|\?)/

/**
 * Serves the built console: files with a hash in their name are cached forever, all others are revalidated. An unknown
 * path is a page of the console and gets its index. Without a build the API still works and the response says what is
 * missing.
 */
export function serveConsole(http: FastifyInstance, directory: string): void {
  const index = join(directory, 'index.html')
  const built = existsSync(index)
  if (built) {
    http.register(fastifyStatic, {
      root: directory,
      serve: false,
      index: false,
      preCompressed: true,
      cacheControl: false,
      setHeaders: (reply, path) => {
        const hashed = /\/assets\/[^/]+-[\w-]{8,}\.\w+(\.(br|gz))?$/.test(path.replaceAll('\\', '/'))
        reply.header('cache-control', hashed ? 'public, max-age=31536000, immutable' : 'no-cache')
      },
    })
    http.get('/', (_request, reply) => page(reply, index))
    // The plugin's own route lists the directory for every request, to refuse other spellings of a name; here every file is public.
    http.get<{ Params: { '*': string } }>('/*', ({ params: { '*': path } }, reply) => {
      if (path.includes('\0')) throw new CruxError('notFound', { property: 'path' })
      return reply.sendFile(`/${path}`)
    })
  }

  http.setNotFoundHandler((request: FastifyRequest, reply: FastifyReply) => {
    const wantsPage = request.method === 'GET' && !notPages.test(request.url)
    if (wantsPage && built) return page(reply, index)
    const error = wantsPage
      ? new CruxError('notFound', {
          description: 'The console is not built. Run npm start, or npm run build in apps/console.',
        })
      : toCruxError(new CruxError('notFound', { property: 'path' }))
    return reply.code(404).send(error.toBody(request.id))
  })
}

/** Read for each request, so that a build during the run is served at once. */
function page(reply: FastifyReply, index: string) {
  return reply.type('text/html; charset=utf-8').header('cache-control', 'no-cache').send(readFileSync(index))
}

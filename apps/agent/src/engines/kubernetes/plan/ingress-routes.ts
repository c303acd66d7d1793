import { normalizeHost, type Route } from '@crux/rules'
import { z } from 'zod'

const Spec = z.object({
  defaultBackend: z.unknown().optional(),
  rules: z
    .array(
      z.object({
        host: z.string().default(''),
        http: z.object({ paths: z.array(z.object({ path: z.string().default('/') })).default([]) }).prefault({}),
      }),
    )
    .default([]),
})

/**
 * The routes of an Ingress, read cautiously: of a path that is a regular expression for some controllers, only the plain beginning counts, so
 * that it covers more rather than less.
 *
 * @param spec of any Ingress of the cluster, as JSON
 */
export function listIngressRoutes(spec: unknown): Route[] {
  const { defaultBackend, rules } = Spec.safeParse(spec).data ?? { rules: [] }
  const routes = rules.flatMap(({ host, http }) => {
    const name = host === '' ? null : normalizeHost(host)
    const paths = http.paths.length > 0 ? http.paths.map(({ path }) => toPlainPath(path)) : ['/']
    return paths.map((path): Route => ({ host: name, path }))
  })
  return defaultBackend === undefined ? routes : [...routes, { host: null, path: '/' }]
}

function toPlainPath(pattern: string): string {
  const [plain = ''] = /^([^\\^$.*+?()[\]{}|]|\\.|\.(?![*+?{]))*/.exec(pattern) ?? []
  return plain.replaceAll(/\\(.)/g, '$1') || '/'
}

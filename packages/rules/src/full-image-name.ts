import { patterns } from '@crux/contract'
import { parseReference } from './parse-reference.ts'

/**
 * An image as the engine names it: `name` with its registry (`docker.io/library/nginx`), `tag` without its separator: a tag (`1.2`), a digest
 * (`sha256:...`), a tag with its digest (`1.2@sha256:...`), or null.
 */
export type FullImageName = { name: string; tag: string | null }
export type FullImageNameResult = { ok: true; image: FullImageName } | { ok: false; problem: string }

/** Reads a reference as `docker pull` does: Docker Hub where no registry is named, its library for a single word. */
export function parseFullImageName(text: string): FullImageNameResult {
  if (text.trim() === '') return { ok: false, problem: 'Write an image such as nginx:1.29' }
  const parsed = parseReference(text)
  if (!parsed.ok) return parsed
  const { host, path, tag } = parsed.reference
  const written = host === null ? path : `${host}/${path}`
  if (written.length > 255 || !patterns.imageName.test(path))
    return { ok: false, problem: `"${written}" is not the name of an image: lower-case words, joined by slashes` }
  if (host !== null && !isHubHost(host)) return { ok: true, image: { name: written, tag } }
  return { ok: true, image: { name: `docker.io/${path.includes('/') ? path : `library/${path}`}`, tag } }
}

/** The host of a full name: `docker.io` of `docker.io/library/nginx`. */
export const getImageHost = (fullName: string): string => fullName.split('/', 1)[0] ?? ''

/** Other names of Docker Hub, all of which the engine reads as `docker.io`. */
const hubHosts = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io', 'hub.docker.com'])
export const isHubHost = (name: string): boolean => hubHosts.has(name)

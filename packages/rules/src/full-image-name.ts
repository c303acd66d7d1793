import { patterns } from '@crux/contract'

/**
 * An image as the engine names it: `name` with its registry (`docker.io/library/nginx`), `tag` without its separator: a tag (`1.2`), a digest
 * (`sha256:...`), a tag with its digest (`1.2@sha256:...`), or null.
 */
export type FullImageName = { name: string; tag: string | null }
export type FullImageNameResult = { ok: true; image: FullImageName } | { ok: false; problem: string }

const bad = (problem: string): FullImageNameResult => ({ ok: false, problem })

/** Reads a reference as `docker pull` does: Docker Hub where no registry is named, its library for a single word (distribution reference grammar). */
export function parseFullImageName(text: string): FullImageNameResult {
  const reference = text.trim()
  if (reference === '') return bad('Write an image such as nginx:1.29')
  const at = reference.indexOf('@')
  const digest = at < 0 ? null : reference.slice(at + 1)
  if (digest !== null && !patterns.digest.test(digest))
    return bad(`"${digest}" is not a digest: sha256: and 64 hex digits`)
  const named = at < 0 ? reference : reference.slice(0, at)
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1)
  const path = colon < 0 ? named : named.slice(0, colon)
  const tag = colon < 0 ? null : named.slice(colon + 1)
  if (tag !== null && !patterns.imageTag.test(tag)) return bad(`"${tag}" is not a tag`)
  const name = withRegistry(path)
  if (name === undefined) return bad(`"${path}" is not the name of an image: lower-case words, joined by slashes`)
  return { ok: true, image: { name, tag: [tag, digest].filter((part) => part !== null).join('@') || null } }
}

/** The host of a full name: `docker.io` of `docker.io/library/nginx`. */
export const getImageHost = (fullName: string): string => fullName.split('/', 1)[0] ?? ''

const host =
  /^(([a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])(:\d{1,5})?$/
/** Other names of Docker Hub, all of which the engine reads as `docker.io`. */
const hubHosts = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io', 'hub.docker.com'])
export const isHubHost = (name: string): boolean => hubHosts.has(name)

function withRegistry(path: string): string | undefined {
  const [first = '', ...rest] = path.split('/')
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')
  const repository = isHost ? rest.join('/') : path
  if (isHost && !host.test(first)) return undefined
  if (path.length > 255 || !patterns.imageName.test(repository)) return undefined
  // The engine reads `sha256:1f2e...` as the id of an existing image.
  if (!isHost && /^sha\d+$/.test(path)) return undefined
  if (isHost && !isHubHost(first)) return `${first}/${repository}`
  return `docker.io/${repository.includes('/') ? repository : `library/${repository}`}`
}

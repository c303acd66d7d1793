import { patterns } from '@crux/contract'

export type ImageName = { name: string; tag: string | null }
export type ImageNameResult = { ok: true; image: ImageName } | { ok: false; problem: string }

const bad = (problem: string): ImageNameResult => ({ ok: false, problem })

/**
 * Splits `name[:tag][@digest]`; the tag of the result contains the digest, as an image stores it. A colon before the last slash belongs to the port of a registry, which only an image of an unchecked registry may contain
 * (distribution specification, reference grammar).
 */
export function parseImageName(text: string, options: { mayNameRegistry: boolean }): ImageNameResult {
  const reference = text.trim()
  const at = reference.indexOf('@')
  const digest = at < 0 ? null : reference.slice(at + 1)
  if (digest !== null && !patterns.digest.test(digest))
    return bad(`"${digest}" is not a digest: sha256: and 64 hex digits`)
  const named = at < 0 ? reference : reference.slice(0, at)
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1)
  const name = colon < 0 ? named : named.slice(0, colon)
  const tag = colon < 0 ? null : named.slice(colon + 1)
  if (tag !== null && !patterns.imageTag.test(tag)) return bad(`"${tag}" is not a tag`)
  // The engine reads `sha256:1f2e...` as the id of an existing image.
  if (/^sha\d+$/.test(name)) return bad(`"${name}" stands before the id of an image: write a name`)
  const path = options.mayNameRegistry ? withoutRegistry(name) : name
  if (name.length > 255 || path === undefined || !patterns.imageName.test(path))
    return bad(`"${name}" is not the name of an image: lower-case words, joined by slashes`)
  return { ok: true, image: { name, tag: [tag, digest].filter((part) => part !== null).join('@') || null } }
}

/** The first part is a host when it has a dot or a port, or is localhost. */
function withoutRegistry(name: string): string | undefined {
  const [first = '', ...rest] = name.split('/')
  if (rest.length === 0 || !(/[.:]/.test(first) || first === 'localhost')) return name
  return /^([a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*(:\d{1,5})?$/.test(first)
    ? rest.join('/')
    : undefined
}

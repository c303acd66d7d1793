import { patterns } from '@crux/contract'

/** `host` is null where the reference names no registry; `tag` contains the digest: `1.2`, `sha256:...`, `1.2@sha256:...`, or null. */
type Reference = { host: string | null; path: string; tag: string | null }
type ReferenceResult = { ok: true; reference: Reference } | { ok: false; problem: string }

const bad = (problem: string): ReferenceResult => ({ ok: false, problem })

/**
 * Splits `[host/]path[:tag][@digest]`. The first part is a host when it has a dot or a port, or is localhost; a colon before the last slash belongs to
 * its port (distribution specification, reference grammar). The path itself is not judged.
 */
export function parseReference(text: string): ReferenceResult {
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
  if (/^sha\d+$/.test(name)) return bad(`"${name}" is the prefix of an image id: write a name`)
  const [first = '', ...rest] = name.split('/')
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')
  if (isHost && !host.test(first)) return bad(`"${first}" is not the address of a registry`)
  const pinned = [tag, digest].filter((part) => part !== null).join('@') || null
  return { ok: true, reference: { host: isHost ? first : null, path: isHost ? rest.join('/') : name, tag: pinned } }
}

const host =
  /^(([a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])(:\d{1,5})?$/

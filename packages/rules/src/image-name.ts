import { patterns } from '@crux/contract'
import { parseReference } from './parse-reference.ts'

export type ImageName = { name: string; tag: string | null }
export type ImageNameResult = { ok: true; image: ImageName } | { ok: false; problem: string }

/**
 * Splits `name[:tag][@digest]`; the tag of the result contains the digest, as an image stores it. Only an image of an unchecked registry may have a
 * registry in its name.
 */
export function parseImageName(text: string, options: { mayNameRegistry: boolean }): ImageNameResult {
  const parsed = parseReference(text)
  if (!parsed.ok) return parsed
  const { host, path, tag } = parsed.reference
  const name = host === null ? path : `${host}/${path}`
  if (name.length > 255 || !patterns.imageName.test(options.mayNameRegistry ? path : name))
    return { ok: false, problem: `"${name}" is not the name of an image: lower-case words, joined by slashes` }
  return { ok: true, image: { name, tag } }
}

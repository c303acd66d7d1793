/** The tag and the digest of an image; null where it has none. */
export type ImagePin = { tag: string | null; digest: string | null }

/** Splits what an image of a version has as its tag: `1.2`, `sha256:...`, `1.2@sha256:...`, or nothing. */
export function parseImageTag(text: string | null | undefined): ImagePin {
  const at = text?.indexOf('sha256:') ?? -1
  if (!text || at < 0) return { tag: text || null, digest: null }
  return { tag: text.slice(0, at).replace(/@$/, '') || null, digest: text.slice(at) }
}

/** What a registry is asked for: the digest of a pinned image, else its tag. */
export function getRegistryReference(text: string | null | undefined): string {
  const { tag, digest } = parseImageTag(text)
  return digest ?? tag ?? 'latest'
}

/** With the first digits of a digest, which tell digests apart: `1.2@sha256:0123456789ab`. */
export const shortImageTag = (text: string): string => text.replace(/(sha256:[0-9a-f]{12})[0-9a-f]+$/, '$1')

/** An image as the engine writes it, with a short digest; `-` stands for a missing tag. */
export function imageText({ name, tag }: { name: string; tag?: string | null | undefined }): string {
  return `${name}${tag?.startsWith('sha256:') ? '@' : ':'}${tag ? shortImageTag(tag) : '-'}`
}

/** Why an image cannot be pinned: the engine's own images have no digest of a registry. */
export const localPinProblem = 'An image of the node itself has no digest of a registry: write a tag'

/** One page of ListObjectsV2 (S3 API reference). */
export interface ListingPage {
  objects: StoredObject[]
  /** Where the next page starts; undefined after the last one. */
  next: string | undefined
}

export interface StoredObject {
  key: string
  size: number
  modifiedAt: Date
}

/**
 * Parses the answer. It is a flat document that a program writes: only five elements are read, whatever else a server adds.
 *
 * @throws Error for a document that is no such answer
 */
export function parseListing(document: string): ListingPage {
  if (!/<ListBucketResult[\s>]/.test(document)) throw new Error('the storage does not answer as S3 does')
  const isEncoded = getText(document, 'EncodingType') === 'url'
  const decode = (text: string) => (isEncoded ? decodeURIComponent(text.replaceAll('+', ' ')) : text)
  const objects = [...document.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g)].map(([, content = '']): StoredObject => {
    const [key, size, modified] = ['Key', 'Size', 'LastModified'].map((name) => getText(content, name))
    const modifiedAt = new Date(modified ?? '')
    if (key === undefined || !/^\d+$/.test(size ?? '') || Number.isNaN(modifiedAt.getTime()))
      throw new Error('the storage lists an object without key, size or time')
    return { key: decode(key), size: Number(size), modifiedAt }
  })
  const isCut = getText(document.replaceAll(/<Contents>[\s\S]*?<\/Contents>/g, ''), 'IsTruncated') === 'true'
  const next = getText(document, 'NextContinuationToken')
  if (isCut && !next) throw new Error('the storage does not say where its listing goes on')
  return { objects, next: isCut ? next : undefined }
}

function getText(document: string, element: string): string | undefined {
  const found = new RegExp(`<${element}>([^<]*)</${element}>`).exec(document)?.[1]
  return found === undefined ? undefined : unescaped(found)
}

const entities: Record<string, string> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

function unescaped(text: string): string {
  return text.replaceAll(/&(?:#(\d+)|#x([0-9a-fA-F]+)|(\w+));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}

/** The colon of a port does not start a tag, and a digest has no tag. */
export function splitReference(reference: string): { name: string; tag: string } {
  const withoutDigest = reference.split('@')[0] ?? reference
  const slash = withoutDigest.lastIndexOf('/')
  const colon = withoutDigest.lastIndexOf(':')
  if (colon > slash) return { name: withoutDigest.slice(0, colon), tag: withoutDigest.slice(colon + 1) }
  return { name: withoutDigest, tag: reference.includes('@') ? '' : 'latest' }
}

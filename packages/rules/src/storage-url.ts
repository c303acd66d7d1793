export type StorageUrlResult = { ok: true; url: string } | { ok: false; problem: string }

const bad = (problem: string): StorageUrlResult => ({ ok: false, problem })

/**
 * Parses the address of an S3 server that a user enters: `s3.example.com`, `http://localhost:7070`, optionally with a path before the buckets. The
 * default scheme is https.
 *
 * @returns the stored form: with its scheme, without a slash at the end
 */
export function parseStorageUrl(text: string): StorageUrlResult {
  const typed = text.trim()
  if (typed === '' || /\s/.test(typed) || typed.startsWith('-')) return bad('Write an address such as s3.example.com')
  const full = /^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `https://${typed}`
  if (!URL.canParse(full)) return bad('Write an address such as s3.example.com or http://localhost:9000')
  const url = new URL(full)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return bad('Only http and https lead to a storage')
  if (url.username || url.password) return bad('Keys have their own fields')
  if (url.search || url.hash) return bad('An address has no query')
  if (url.hostname === '') return bad('The name of the machine is missing')
  return { ok: true, url: `${url.origin}${url.pathname.replace(/\/+$/, '')}` }
}

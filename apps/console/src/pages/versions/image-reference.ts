/**
 * NAME or NAME:TAG as users type it for an unchecked registry. A colon before a slash belongs to a host with a port
 * (localhost:5000/app:1.0), so only what follows the last slash is looked at.
 */
export function isImageReference(text: string): boolean {
  const trimmed = text.trim()
  if (trimmed === '' || /\s/.test(trimmed) || trimmed.startsWith('-') || trimmed.includes('@')) return false
  const last = trimmed.slice(trimmed.lastIndexOf('/') + 1)
  const parts = last.split(':')
  return parts.length <= 2 && parts.every((part) => part !== '')
}

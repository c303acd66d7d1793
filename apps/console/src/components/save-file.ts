/** Offers text as a file to save, without asking the server for it. */
export function saveFile(name: string, parts: string[], type = 'text/plain'): void {
  const url = URL.createObjectURL(new Blob(parts, { type }))
  Object.assign(document.createElement('a'), { href: url, download: name }).click()
  URL.revokeObjectURL(url)
}

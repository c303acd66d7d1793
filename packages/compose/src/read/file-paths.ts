/** Paths of files as they are compared: without `.`, and without `..` where a directory is before it. */
export function normalizePath(path: string): string {
  const parts: string[] = []
  for (const part of path.replaceAll('\\', '/').split('/')) {
    if (part === '.' || (part === '' && parts.length > 0)) continue
    const last = parts.at(-1)
    if (part === '..' && last !== undefined && last !== '..' && last !== '') parts.pop()
    else parts.push(part)
  }
  return parts.join('/')
}

/** The path as it is seen from the directory of the first file. */
export function resolvePath(directory: string, path: string): string {
  return directory === '' || path.startsWith('/') ? normalizePath(path) : normalizePath(`${directory}/${path}`)
}

/** Empty for a file without a directory. */
export function getDirectory(path: string): string {
  return normalizePath(path).split('/').slice(0, -1).join('/')
}

/** Finds a file by the path with which another one, in this directory, names it. */
export type FileFinder<T> = (directory: string, path: string) => T | undefined

export function createFileFinder<T extends { name: string }>(files: readonly T[]): FileFinder<T> {
  const byName = new Map<string, T>()
  for (const file of files) if (!byName.has(normalizePath(file.name))) byName.set(normalizePath(file.name), file)
  // Users who give files without their directories mean the path as it is written.
  return (directory, path) => byName.get(resolvePath(directory, path)) ?? byName.get(normalizePath(path))
}

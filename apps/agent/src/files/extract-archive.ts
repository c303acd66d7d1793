import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { extract, type Header } from 'tar-stream'
import type { Attributes, ContainedDirectory, InnerPath } from './contained-directory.ts'
import { leadsAway } from './directory-walk.ts'

export interface Extraction {
  files: number
  bytes: number
  /** Entries that a volume does not accept: devices, pipes, sockets. */
  skipped: string[]
  /** Every path of the archive, directories too, joined by slashes. */
  paths: Set<string>
}

/**
 * Writes the content of an engine's archive of one path: of a directory, or of one file. Owners are kept where this process may set them.
 *
 * @param isForeign whether an entry, by its path joined by slashes, is not the image's own and is left out
 * @throws Error for a name that leads out of the archived directory
 */
export async function extractArchive(
  archive: Readable,
  directory: ContainedDirectory,
  isForeign: (path: string, header: Header) => boolean = () => false,
): Promise<Extraction> {
  const found: Extraction = { files: 0, bytes: 0, skipped: [], paths: new Set() }
  const directories: { path: InnerPath; attributes: Attributes }[] = []
  const entries = extract()
  const reading = pipeline(archive, entries)
  // Awaited below; without this a broken archive would count as unhandled before that.
  reading.catch(() => undefined)
  /** The archived path's own name, with which all names start when it is a directory. */
  let top: string | undefined
  for await (const entry of entries) {
    const { header } = entry
    const parts = getParts(header.name)
    if (top === undefined) {
      top = header.type === 'directory' ? (parts[0] ?? '') : ''
      if (header.type === 'directory' && parts.length <= 1) {
        entry.resume()
        continue
      }
    }
    const path = toInnerPath(parts, top)
    if (isForeign(path.join('/'), header)) {
      entry.resume()
      continue
    }
    const attributes = toAttributes(header)
    remember(found.paths, path)
    switch (header.type) {
      case 'directory':
        await directory.makeDirectory(path)
        directories.push({ path, attributes })
        entry.resume()
        break
      case 'symlink':
        await directory.makeLink(path, header.linkname, attributes)
        entry.resume()
        break
      case 'link':
        await directory.makeHardLink(path, toInnerPath(getParts(header.linkname), top))
        entry.resume()
        break
      case 'file':
      case 'contiguous-file':
        await directory.writeFile(path, entry, attributes)
        found.files += 1
        found.bytes += header.size
        break
      default:
        found.skipped.push(path.join('/'))
        entry.resume()
    }
  }
  await reading
  // The deepest first: a write into a directory changes the directory's time.
  for (const { path, attributes } of directories.reverse()) await directory.finishDirectory(path, attributes)
  return found
}

/** @throws Error for a name that leads out of the archived directory */
export function getParts(name: string): string[] {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.some(leadsAway)) throw new Error(`the archive holds ${name}, which leads out of its directory`)
  return parts
}

function toInnerPath(parts: readonly string[], top: string): InnerPath {
  const path = top !== '' && parts[0] === top ? parts.slice(1) : parts
  if (path.length === 0) throw new Error('the archive holds an entry without a name')
  return path
}

/** Adds a path with all directories above it. */
export function remember(paths: Set<string>, path: InnerPath): void {
  for (let length = path.length; length > 0; length--) {
    const joined = path.slice(0, length).join('/')
    if (paths.has(joined)) return
    paths.add(joined)
  }
}

export function toAttributes({ mode, uid, gid, mtime }: Header): Attributes {
  const isRoot = process.getuid?.() === 0
  return { mode, modifiedAt: mtime, ...(isRoot ? { owner: { user: uid, group: gid } } : {}) }
}

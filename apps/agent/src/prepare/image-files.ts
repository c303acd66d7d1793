import { posix } from 'node:path'
import { errorCode } from '@crux/service-kit'
import type { Header } from 'tar-stream'
import { retried } from '../concurrency/retried.ts'
import { isMadeByEngine } from '../engines/file-sources.ts'
import type { Attributes, ContainedDirectory, InnerPath } from '../files/contained-directory.ts'
import { getParts, remember } from '../files/extract-archive.ts'
import { type ImagePath, join, LayerView } from './layer-view.ts'
import { RegistryError } from './registry-error.ts'
import type { Layer, LayerEntry, RegistryImage } from './registry-image.ts'

export interface Copied {
  files: number
  bytes: number
  /** Entries that a volume does not accept: devices, pipes, sockets. */
  skipped: string[]
  /** Files and directories that the image does not have. */
  removed: number
}

const entriesMax = 500_000
const linksMax = 10

/** The path, or a part of it, is a symbolic link of the image. */
class LinkedPathError extends Error {
  readonly target: string

  constructor(target: string) {
    super('the path leads over a link')
    this.target = target
  }
}

const isPassing = (error: unknown): boolean => error instanceof RegistryError && error.passing

/**
 * Copies a directory or a file of an image into a directory, as if a container of it were read.
 *
 * @param options.keeps entries of the directory that are none of the image, and stay
 * @throws Error with a sentence for users
 */
export async function copyImageFiles(
  image: RegistryImage,
  directory: ContainedDirectory,
  options: { path: string; keepFiles: boolean; keeps: (path: string) => boolean; signal: AbortSignal },
): Promise<Copied> {
  const { keepFiles, keeps, signal } = options
  const layers = await retried(() => image.listLayers(), signal, isPassing)
  for (let links = 0, { path } = options; ; links += 1) {
    const copy = new ImageCopy(image, directory, { path, keeps })
    try {
      for (const [index, layer] of [...layers.entries()].reverse()) await copy.readLayer(layer, index, signal)
      const copied = await copy.finish()
      const removed = keepFiles
        ? await directory.removePartial()
        : await directory.removeUnwanted((entry) => copy.paths.has(entry) || keeps(entry))
      return { ...copied, removed: keepFiles ? 0 : removed }
    } catch (error) {
      if (!(error instanceof LinkedPathError)) throw error
      if (links === linksMax) throw new Error(`the path ${options.path} of the image leads over too many links`)
      path = error.target
    }
  }
}

/** A file that has the content of another one, which is read later or lies outside of the copied directory. */
interface PendingLink {
  path: InnerPath
  target: ImagePath
  attributes: Attributes
}

class ImageCopy {
  readonly paths = new Set<string>()
  readonly #image: RegistryImage
  readonly #directory: ContainedDirectory
  readonly #target: ImagePath
  readonly #keeps: (path: string) => boolean
  readonly #view = new LayerView()
  readonly #directories: { path: InnerPath; attributes: Attributes }[] = []
  readonly #files = new Map<string, number>()
  readonly #skipped = new Set<string>()
  #pending: PendingLink[] = []
  #isFound: boolean

  constructor(
    image: RegistryImage,
    directory: ContainedDirectory,
    { keeps, path }: { path: string; keeps: (path: string) => boolean },
  ) {
    this.#image = image
    this.#directory = directory
    this.#target = getParts(path)
    this.#keeps = keeps
    this.#isFound = this.#target.length === 0
  }

  /** Layers are read from the highest to the lowest. */
  async readLayer(layer: Layer, index: number, signal: AbortSignal): Promise<void> {
    const before = new Set(this.#pending)
    const read = (visit: (entry: LayerEntry) => Promise<void>) =>
      retried(() => this.#image.readLayer(layer, visit), signal, isPassing)
    await read((entry) => this.#visit(entry, index))
    // What a link of this layer names may have come before the link.
    if (this.#pending.some((link) => !before.has(link))) await read((entry) => this.#fillOnly(entry))
  }

  async finish(): Promise<Omit<Copied, 'removed'>> {
    const [missing] = this.#pending
    if (missing)
      throw new Error(`the image has no file ${join(missing.target)}, to which ${join(missing.path)} is a link`)
    if (!this.#isFound) throw new Error(`the image ${this.#image.name} has no ${posix.join('/', ...this.#target)}`)
    // The deepest first: a write into a directory changes the directory's time.
    const sorted = this.#directories.sort((one, other) => other.path.length - one.path.length)
    for (const { path, attributes } of sorted) await finishOwnDirectory(this.#directory, path, attributes)
    const bytes = [...this.#files.values()].reduce((sum, size) => sum + size, 0)
    return { files: this.#files.size, bytes, skipped: [...this.#skipped] }
  }

  async #visit(entry: LayerEntry, layer: number): Promise<void> {
    const { header } = entry
    const path = getParts(header.name)
    const depth = this.#target.length
    const isAbove = path.length <= depth && path.every((part, index) => part === this.#target[index])
    const isBelow = path.length > depth && this.#target.every((part, index) => part === path[index])
    if (!isAbove && !isBelow) return this.#fillOnly(entry)
    if (isMadeByEngine(`/${join(path)}`, header.size)) return void entry.resume()
    const isDirectory = header.type === 'directory'
    const state = this.#view.add(path, layer, isDirectory)
    if (state !== 'new') return this.#fillOnly(entry)
    if (isAbove && header.type === 'symlink') throw new LinkedPathError(this.#resolveLink(path, header))
    if (path.length < depth) return this.#fillOnly(entry)
    this.#isFound = true
    if (path.length === depth && isDirectory) return void entry.resume()
    // One file goes into the directory by its own name.
    await this.#write(entry, path.length === depth ? path.slice(-1) : path.slice(depth), layer)
  }

  async #write(entry: LayerEntry, path: InnerPath, layer: number): Promise<void> {
    const { header } = entry
    const directory = this.#directory
    const attributes = toAttributes(header)
    if (this.#keeps(path[0] ?? '')) throw new Error(`the image holds ${path[0]}, which has another meaning in a volume`)
    if (this.paths.size > entriesMax) throw new Error('the image has too many files')
    switch (header.type) {
      case 'directory':
        await directory.makeDirectory(path)
        this.#directories.push({ path, attributes })
        entry.resume()
        break
      case 'symlink':
        await directory.makeLink(path, header.linkname ?? '', attributes)
        entry.resume()
        break
      case 'link':
        await this.#link(path, getParts(header.linkname ?? ''), attributes, layer)
        entry.resume()
        break
      case 'file':
      case 'contiguous-file':
        await directory.writeFile(path, entry, attributes)
        this.#files.set(join(path), header.size)
        await this.#linkPending(getParts(header.name), path)
        break
      default:
        this.#skipped.add(join(path))
        entry.resume()
        return
    }
    remember(this.paths, path)
  }

  async #link(path: InnerPath, target: ImagePath, attributes: Attributes, layer: number): Promise<void> {
    const inner = target.slice(this.#target.length)
    const isInside = inner.length > 0 && join(target) === join([...this.#target, ...inner])
    if (isInside && this.#view.hasFile(target, layer) && this.#files.has(join(inner)))
      await this.#directory.makeHardLink(path, inner)
    else this.#pending.push({ path, target, attributes })
  }

  /** Takes from an entry that is not copied itself what links need. */
  async #fillOnly(entry: LayerEntry): Promise<void> {
    const { header } = entry
    const path = this.#pending.length > 0 ? getParts(header.name) : []
    const wanted = this.#pending.filter(({ target }) => join(target) === join(path))
    const [first] = wanted
    if (first && header.type === 'link') {
      const target = getParts(header.linkname ?? '')
      this.#pending = this.#pending.map((link) => (wanted.includes(link) ? { ...link, target } : link))
    } else if (first && (header.type === 'file' || header.type === 'contiguous-file')) {
      await this.#directory.writeFile(first.path, entry, first.attributes)
      this.#files.set(join(first.path), header.size)
      await this.#linkPending(path, first.path)
      return
    }
    entry.resume()
  }

  async #linkPending(target: ImagePath, written: InnerPath): Promise<void> {
    if (this.#pending.length === 0) return
    const isOf = (link: PendingLink) => join(link.target) === join(target)
    for (const { path } of this.#pending.filter((link) => isOf(link) && join(link.path) !== join(written)))
      await this.#directory.makeHardLink(path, written)
    this.#pending = this.#pending.filter((link) => !isOf(link))
  }

  /** The path that is meant, when a part of it is a link: links lead nowhere but to the image's own files. */
  #resolveLink(path: ImagePath, { linkname }: Header): string {
    const from = posix.join('/', ...path.slice(0, -1))
    return posix.join(posix.resolve(from, linkname ?? ''), ...this.#target.slice(path.length))
  }
}

/** A directory that somebody else has made keeps its rights: only its owner may change them. */
async function finishOwnDirectory(directory: ContainedDirectory, path: InnerPath, attributes: Attributes) {
  await directory.finishDirectory(path, attributes).catch((error: unknown) => {
    if (errorCode(error) !== 'EPERM') throw error
  })
}

/** Owners are not kept: this process may set none, and the group of the pod has the rights of the owner. */
const toAttributes = ({ mode, mtime }: Header): Attributes => ({
  ...(mode !== undefined && { mode }),
  ...(mtime && { modifiedAt: mtime }),
})

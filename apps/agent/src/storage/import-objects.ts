import type { Readable } from 'node:stream'
import { retried } from '../concurrency/retried.ts'
import { Slots } from '../concurrency/slots.ts'
import type { ContainedDirectory, InnerPath } from '../files/contained-directory.ts'
import { leadsAway } from '../files/directory-walk.ts'
import type { Bucket } from './bucket.ts'
import type { StoredObject } from './listing.ts'
import { StorageError, toNetworkError } from './storage-error.ts'

export interface Imported {
  fetched: number
  fetchedBytes: number
  unchanged: number
  removed: number
}

/** How many objects are transferred at once: for small ones most of the time is waiting, and a single large one uses the whole bandwidth. */
const fetchesMax = 8
const nameBytesMax = 255

/**
 * Makes the directory the mirror of a prefix: fetches what differs by size or time, removes what is not there. May be repeated after an
 * interruption: files that were transferred are not fetched again.
 *
 * @param options.owner the owner of the files; undefined: this process
 * @throws StorageError with a sentence for users; for a key that is no path, before anything is changed
 */
export async function importObjects(
  bucket: Bucket,
  directory: ContainedDirectory,
  options: {
    prefix: string
    owner: { user: number; group: number } | undefined
    signal: AbortSignal
    onProgress: (progress: { currentBytes: number; totalBytes: number }) => void
    /** Entries that stay although no object has their name. */
    keeps?: (path: string) => boolean
  },
): Promise<Imported> {
  const { keeps = () => false, prefix, owner, signal, onProgress } = options
  const objects = await retried(() => listAll(bucket, prefix), signal, isPassing)
  // An empty answer to a mistyped prefix must not empty the volume.
  if (prefix !== '' && objects.length === 0) throw new StorageError(`the bucket has nothing under ${prefix}`)
  const { files, directories } = toFilePaths(objects, prefix)

  const missing: { object: StoredObject; path: InnerPath }[] = []
  for (const [joined, object] of files) {
    signal.throwIfAborted()
    const path = joined.split('/')
    const known = await directory.metadata(path)
    if (!isSame(object, known)) missing.push({ object, path })
  }
  const removed = await directory.removeUnwanted((path) => files.has(path) || directories.has(path) || keeps(path))
  for (const path of directories) {
    await directory.makeDirectory(path.split('/'))
    if (owner) await directory.finishDirectory(path.split('/'), { owner })
  }

  const totalBytes = missing.reduce((sum, { object }) => sum + object.size, 0)
  let currentBytes = 0
  const failing = new AbortController()
  const both = AbortSignal.any([signal, failing.signal])
  const slots = new Slots(fetchesMax)
  const count = (bytes: number) => {
    currentBytes += bytes
    onProgress({ currentBytes, totalBytes: Math.max(totalBytes, currentBytes) })
  }
  let first: { error: unknown } | undefined
  await Promise.all(
    missing.map(({ object, path }) =>
      slots.run(async () => {
        if (both.aborted) return
        try {
          await retried(() => fetchOne(bucket, directory, { key: object.key, path, owner, count }), both, isPassing)
        } catch (error) {
          first ??= { error }
          failing.abort(error)
        }
      }),
    ),
  )
  signal.throwIfAborted()
  if (first) throw first.error
  return { fetched: missing.length, fetchedBytes: currentBytes, unchanged: files.size - missing.length, removed }
}

async function listAll(bucket: Bucket, prefix: string): Promise<StoredObject[]> {
  const all: StoredObject[] = []
  for await (const page of bucket.list(prefix)) all.push(...page)
  return all
}

/** Paths of files and of all directories; a key that ends with a slash is a directory that may be empty. */
function toFilePaths(objects: readonly StoredObject[], prefix: string) {
  const files = new Map<string, StoredObject>()
  const directories = new Set<string>()
  for (const object of objects) {
    const { key } = object
    if (key === prefix) continue
    const isDirectory = key.endsWith('/')
    const parts = key.slice(prefix.length, isDirectory ? -1 : undefined).split('/')
    if (!key.startsWith(prefix) || parts.some((part) => leadsAway(part) || Buffer.byteLength(part) > nameBytesMax))
      throw new StorageError(`the storage holds ${JSON.stringify(key)}, which is not the name of a file`)
    for (let length = isDirectory ? parts.length : parts.length - 1; length > 0; length--)
      directories.add(parts.slice(0, length).join('/'))
    if (!isDirectory) files.set(parts.join('/'), object)
  }
  const both = [...files.keys()].find((path) => directories.has(path))
  if (both !== undefined) throw new StorageError(`the storage holds ${both} both as a file and as a directory`)
  return { files, directories }
}

/** The time is that of the object, which the file received after its transfer; servers report it to the second. */
function isSame(object: StoredObject, known: Awaited<ReturnType<ContainedDirectory['metadata']>>): boolean {
  return (
    known?.kind === 'file' && known.size === object.size && toSeconds(known.modifiedAt) === toSeconds(object.modifiedAt)
  )
}

function toSeconds(date: Date): number {
  return Math.floor(date.getTime() / 1_000)
}

async function fetchOne(
  bucket: Bucket,
  directory: ContainedDirectory,
  {
    key,
    path,
    owner,
    count,
  }: {
    key: string
    path: InnerPath
    owner: { user: number; group: number } | undefined
    count: (bytes: number) => void
  },
): Promise<void> {
  const { body, size, modifiedAt } = await bucket.read(key)
  let received = 0
  try {
    await directory.writeFile(
      path,
      counted(body, { size, host: bucket.host }, (bytes) => {
        received += bytes
        count(bytes)
      }),
      { mode: 0o644, modifiedAt, ...(owner ? { owner } : {}) },
    )
  } catch (error) {
    body.destroy()
    // Bytes that are fetched again are not counted twice.
    count(-received)
    throw error
  }
}

async function* counted(
  body: Readable,
  { size, host }: { size: number; host: string },
  count: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  let received = 0
  try {
    const chunks: AsyncIterable<Buffer> = body
    for await (const chunk of chunks) {
      received += chunk.length
      count(chunk.length)
      yield chunk
    }
  } catch (error) {
    throw toNetworkError(error, host)
  }
  if (received !== size) throw new StorageError('the storage sends less than it announces', { passing: true })
}

const isPassing = (error: unknown): boolean => error instanceof StorageError && error.passing

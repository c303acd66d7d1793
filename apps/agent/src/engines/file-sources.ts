import { posix } from 'node:path'
import type { FinalContainerConfig } from '@crux/contract'
import { type ParsedImage, parseImage } from './images/image-reference.ts'

/** Files of an image that are copied into a volume before a container starts. */
export interface ConfigSource {
  image: ParsedImage
  /** Absolute and normalised. */
  path: string
  /** Whether files that the image does not have stay in the volume. */
  keepFiles: boolean
  volume: string
}

/** Objects of a bucket that a volume mirrors before a container starts. */
export interface BucketSource {
  bucket: string
  /** Empty, or a path that ends with a slash. */
  prefix: string
  volume: string
}

/** @throws Error with a sentence for users */
export function toConfigSource({ configContainer }: FinalContainerConfig): ConfigSource | undefined {
  if (!configContainer) return undefined
  const { image, path, keepFiles, volume } = configContainer
  if (!path.startsWith('/')) throw new Error(`the path ${path} of the config container is not absolute`)
  return { image: parseImage(image), path: posix.normalize(path), keepFiles, volume }
}

/** @throws Error with a sentence for users */
export function toBucketSource({ storage }: FinalContainerConfig): BucketSource | undefined {
  if (!storage?.storageId) return undefined
  const volume = storage.path ?? ''
  const [bucket = '', ...rest] = (storage.bucket ?? '').split('/').filter((part) => part !== '')
  if (bucket === '' || volume === '') throw new Error('the import from a storage needs a bucket and a volume')
  if (rest.some((part) => part === '.' || part === '..')) throw new Error(`"${storage.bucket}" is no bucket`)
  return { bucket, prefix: rest.length > 0 ? `${rest.join('/')}/` : '', volume }
}

/** Directories that an engine adds to every container where the image has no content of its own. */
const engineDirectories = ['/dev', '/proc', '/sys']
const engineFiles = ['/.dockerenv', '/etc/hostname', '/etc/hosts', '/etc/mtab', '/etc/resolv.conf']

/** Whether an absolute path of an image is no file of its own. */
export function isMadeByEngine(path: string, size: number): boolean {
  const plain = path.replace(/(.)\/$/, '$1')
  return (
    (size === 0 && engineFiles.includes(plain)) ||
    engineDirectories.some((directory) => plain === directory || plain.startsWith(`${directory}/`))
  )
}

import { createHash } from 'node:crypto'
import { canonicalJson } from '@crux/rules'
import { errorCode } from '@crux/service-kit'
import { getMessage } from '../errors.ts'
import { type ContainedDirectory, openContainedDirectory } from '../files/contained-directory.ts'
import { Bucket } from '../storage/bucket.ts'
import { importObjects } from '../storage/import-objects.ts'
import { copyImageFiles } from './image-files.ts'
import type { FilesOfImage, ObjectsOfBucket, PreparationOrder, PreparedVolume } from './order.ts'
import { RegistryImage } from './registry-image.ts'
import { fillOnce, isReserved } from './volume-state.ts'

const reportEveryMs = 5_000

export interface PreparationContext {
  /** The release that the pod belongs to. */
  release: string
  signal: AbortSignal
  report: (line: string) => void
}

/**
 * Writes what the order says into its volumes.
 *
 * @returns what was done, as sentences for users
 * @throws Error with a sentence for users
 */
export async function prepareVolumes(
  { volumes }: Pick<PreparationOrder, 'volumes'>,
  context: PreparationContext,
): Promise<string[]> {
  const done: string[] = []
  for (const volume of volumes) {
    const filled = await fillOnce(volume.directory, toIdentity(volume, context.release), context, () =>
      fillVolume(volume, context),
    ).catch((error: unknown) => {
      throw toVolumeError(volume, error)
    })
    done.push(...(filled ?? [`the files in ${volume.name} are those of this release already`]))
  }
  return done
}

/** Credentials and where the volume is mounted make no other files. */
function toIdentity({ sources }: PreparedVolume, release: string): string {
  const files = sources.map((source) => {
    if (source.kind === 'bucket') return [source.url, source.bucket, source.prefix]
    return [source.name, source.digest, source.path, source.keepFiles]
  })
  return `${release} ${createHash('sha256').update(canonicalJson(files)).digest('hex')}\n`
}

async function fillVolume({ directory: path, name, sources }: PreparedVolume, context: PreparationContext) {
  const done: string[] = []
  for (const source of sources) {
    const isMirror = source.kind === 'bucket' || !source.keepFiles
    const directory = await openContainedDirectory(path, { replace: isMirror, groupWrites: true })
    try {
      done.push(
        ...(source.kind === 'bucket'
          ? await importBucket(source, name, directory, context)
          : await copyImage(source, name, directory, context)),
      )
    } finally {
      await directory.close()
    }
  }
  return done
}

async function copyImage(
  source: FilesOfImage,
  volume: string,
  directory: ContainedDirectory,
  { report, signal }: PreparationContext,
): Promise<string[]> {
  const { keepFiles, name, path } = source
  report(`copying ${path} of the image ${name} into ${volume}`)
  const image = new RegistryImage(source, signal)
  try {
    const options = { path, keepFiles, keeps: isReserved, signal }
    const { bytes, files, removed, skipped } = await copyImageFiles(image, directory, options)
    const gone = removed > 0 ? `, ${removed} others removed` : ''
    const named = skipped.slice(0, 10).join(', ')
    return [
      `copied ${files} files (${bytes} bytes) into ${volume}${gone}`,
      ...(named === '' ? [] : [`left out, since a volume takes no devices: ${named}`]),
    ]
  } finally {
    image.close()
  }
}

async function importBucket(
  source: ObjectsOfBucket,
  volume: string,
  directory: ContainedDirectory,
  { report, signal }: PreparationContext,
): Promise<string[]> {
  const bucket = new Bucket(source, signal)
  report(`importing the bucket ${source.bucket} into ${volume}`)
  let reportedAt = Date.now()
  try {
    const { fetched, fetchedBytes, removed, unchanged } = await importObjects(bucket, directory, {
      prefix: source.prefix,
      owner: undefined,
      signal,
      keeps: isReserved,
      onProgress({ currentBytes, totalBytes }) {
        if (Date.now() - reportedAt < reportEveryMs) return
        reportedAt = Date.now()
        const share = Math.floor((currentBytes / Math.max(1, totalBytes)) * 100)
        report(`importing into ${volume}: ${share} % of ${totalBytes} bytes`)
      },
    })
    return [
      `imported ${fetched} files (${fetchedBytes} bytes) into ${volume}, ${unchanged} were there already, ${removed} removed`,
    ]
  } finally {
    bucket.close()
  }
}

const systemErrors: Readonly<Record<string, string>> = {
  ENOSPC: 'the volume is full',
  EDQUOT: 'the volume is full',
  EROFS: 'the volume can only be read',
  EACCES: 'the user of the container may not write to all of it',
  EPERM: 'the user of the container may not write to all of it',
}

function toVolumeError({ name }: PreparedVolume, cause: unknown): Error {
  const sentence = systemErrors[errorCode(cause)]
  return new Error(`${name}: ${sentence ? `${sentence} (${errorCode(cause)})` : getMessage(cause)}`, { cause })
}

import { posix } from 'node:path'
import { type ContainedDirectory, openContainedDirectory } from '../../../files/contained-directory.ts'
import { toEntryPath } from '../../../files/directory-walk.ts'
import { Phase } from '../../../journal/progress-reporter.ts'
import { isMadeByEngine } from '../../file-sources.ts'
import { idleSpec } from '../containers/idle-spec.ts'
import type { ConfigCopy, StorageImport, WritableDirectory } from '../plan/preparations.ts'
import type { ResolvedInstance } from '../plan/steps.ts'
import { createPreparation, imageFor, type Job } from './preparation.ts'
import type { StepContext } from './release-context.ts'

const textEveryMs = 5_000

/** Needs no tool inside the image: the agent creates a container of it, never starts it, and the engine reads its files. */
export async function copyConfig(copy: ConfigCopy, job: Job): Promise<void> {
  const { instance, context } = job
  const { engine } = context.node.driver
  const { progressReporter } = context
  const { extractArchive } = await import('../../../files/extract-archive.ts')
  const id = await createPreparation(job, { ...idleSpec, image: imageFor(job, copy), command: ['-'] }, 'config')
  const directory = await openDirectory(copy.directory, context, instance, { replace: !copy.keepFiles })
  try {
    const { files, bytes, skipped, paths } = await extractArchive(
      await engine.readArchive(id, copy.path, context.signal),
      directory,
      (path, { size }) => isMadeByEngine(posix.join(copy.path, path), size),
    )
    const removed = copy.keepFiles
      ? await directory.removePartial()
      : await directory.removeUnwanted((path) => paths.has(path))
    const gone = removed > 0 && !copy.keepFiles ? `, ${removed} others removed` : ''
    progressReporter.info(instance.instanceId, `copied ${files} files (${bytes} bytes) into ${copy.volume}${gone}`)
    const named = skipped.slice(0, 10).join(', ')
    if (named !== '') progressReporter.warn(instance.instanceId, `left out, since a volume takes no devices: ${named}`)
  } finally {
    await directory.close()
  }
}

export async function importFiles(order: StorageImport, { instance, context }: Job): Promise<void> {
  const { instanceId } = instance
  const { progressReporter } = context
  const access = context.release.instances.find((candidate) => candidate.instanceId === instanceId)?.storage
  if (!access) throw new Error('the release does not say where the storage is')
  const [{ Bucket }, { importObjects }] = await Promise.all([
    import('../../../storage/bucket.ts'),
    import('../../../storage/import-objects.ts'),
  ])
  const bucket = new Bucket({ ...access, bucket: order.bucket }, context.signal)
  const directory = await openDirectory(order.directory, context, instance, { replace: true })
  const report = (status: string, currentBytes: number, totalBytes: number) =>
    progressReporter.progress(instanceId, { currentBytes, totalBytes, status })
  let reportedAt = Date.now()
  const onProgress = ({ currentBytes, totalBytes }: { currentBytes: number; totalBytes: number }) => {
    report('Importing', currentBytes, totalBytes)
    // The waiting step also reports progress as text; each text is stored with the release, so their number is limited.
    if (Date.now() - reportedAt < textEveryMs) return
    reportedAt = Date.now()
    const share = Math.floor((currentBytes / Math.max(1, totalBytes)) * 100)
    const detail = `importing into ${order.volume}: ${share} % of ${totalBytes} bytes`
    progressReporter.running(instanceId, Phase.START, detail)
  }
  try {
    const { fetched, fetchedBytes, unchanged, removed } = await importObjects(bucket, directory, {
      prefix: order.prefix,
      owner: getOwner(instance),
      signal: context.signal,
      onProgress,
    })
    report('Import complete', fetchedBytes, fetchedBytes)
    progressReporter.info(
      instanceId,
      `imported ${fetched} files (${fetchedBytes} bytes) into ${order.volume}, ${unchanged} were there already, ${removed} removed`,
    )
  } finally {
    bucket.close()
    await directory.close()
  }
}

/** The container must be able to read the files that were copied for it; only root can change their owner. */
function getOwner({ base }: ResolvedInstance): { user: number; group: number } | undefined {
  if (!base.user || process.getuid?.() !== 0) return undefined
  return { user: Number(base.user), group: Number(base.user) }
}

/** Opens the directory itself as a handle, so that later changes to its path have no effect. Creates it where it is missing. */
async function openDirectory(
  directory: WritableDirectory,
  { node: { data, sources } }: StepContext,
  instance: ResolvedInstance,
  options: { replace: boolean },
): Promise<ContainedDirectory> {
  if (directory.kind === 'host') {
    const hostDirectory = await sources.openHostDirectory(directory.path)
    try {
      return await openContainedDirectory(toEntryPath(hostDirectory, '.'), options)
    } finally {
      await hostDirectory.close()
    }
  }
  const volume = await data.openVolume(directory.relativePath)
  try {
    const owner = getOwner(instance)
    if (volume.created && owner) await volume.giveTo(owner.user)
    return await openContainedDirectory(volume.path, options)
  } finally {
    await volume.close()
  }
}

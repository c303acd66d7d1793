import { chown, mkdir } from 'node:fs/promises'
import { posix } from 'node:path'
import type { ContainerSpec } from '../drivers/container-engine.ts'
import { EngineError, isEngineError, messageOf } from '../drivers/errors.ts'
import { imageKey } from '../plan/image-reference.ts'
import { isOwnedBy, label, ownerLabels } from '../plan/labels.ts'
import { preparationName } from '../plan/names.ts'
import type { PreparationImage, ResolvedInstance } from '../plan/plan.ts'
import type { ConfigCopy, Preparation, StorageImport, WritableFolder } from '../plan/preparations.ts'
import { Refusal } from '../plan/refusal.ts'
import type { StepOf } from '../plan/steps.ts'
import { openContainedFolder } from '../volumes/contained-folder.ts'
import { partsOf, type Run } from './executors.ts'
import { runInit } from './init-container.ts'
import { Phase } from './narrator.ts'

/**
 * Does one of an instance's preparations, unless the journal knows that it is done. Copies and imports may be repeated; an init
 * container that an earlier process started is found by its labels and waited for.
 */
export async function prepareInstance({ instanceId, index }: StepOf<'instance.prepare'>, run: Run): Promise<void> {
  const { instance } = partsOf(run, instanceId)
  const preparation = instance.preparations[index]
  if (!preparation) throw new Error(`instance ${instanceId} has no preparation ${index}`)
  const key = `${instanceId}/${index}`
  if (preparation.kind !== 'init') run.overwritten.push({ instanceId, volume: preparation.volume })
  if (!run.done.has(key)) {
    run.narrator.running(instanceId, Phase.START, inWords(preparation))
    try {
      await doOne(preparation, { index, instance, run })
    } catch (error) {
      if (run.signal.aborted || isEngineError(error, 'away') || error instanceof Refusal) throw error
      throw new Refusal(instanceId, `${inWords(preparation)}: ${messageOf(error)}`, { cause: error })
    }
    await run.remember(key)
  }
  await discardPreparations(run, instanceId, index)
}

export interface Job {
  index: number
  instance: ResolvedInstance
  run: Run
}

async function doOne(preparation: Preparation, job: Job): Promise<void> {
  switch (preparation.kind) {
    case 'config':
      return copyConfig(preparation, job)
    case 'import':
      return importFiles(preparation, job)
    case 'init':
      return runInit(preparation, job)
  }
}

function inWords(preparation: Preparation): string {
  switch (preparation.kind) {
    case 'config':
      return `copying ${preparation.path} of ${imageKey(preparation.image)} into ${preparation.volume}`
    case 'import':
      return `importing ${preparation.bucket}/${preparation.prefix} into ${preparation.volume}`
    case 'init':
      return `running the init container ${preparation.name}`
  }
}

/** Needs no tool inside the image: a container of it is made, never started, and read by the engine. */
async function copyConfig(copy: ConfigCopy, job: Job): Promise<void> {
  const { instance, run } = job
  const { engine } = run.driver
  const { extractArchive } = await import('../volumes/extract-archive.ts')
  const id = await createPreparation(job, { ...idleSpec, image: imageFor(job, copy), command: ['-'] }, 'config')
  const folder = await openContainedFolder(await readyFolder(copy.folder, run, instance), { replace: !copy.keepFiles })
  try {
    const { files, bytes, skipped, paths } = await extractArchive(
      await engine.readArchive(id, copy.path, run.signal),
      folder,
    )
    const removed = copy.keepFiles
      ? await folder.removePartial()
      : await folder.removeUnwanted((path) => paths.has(path))
    const gone = removed > 0 && !copy.keepFiles ? `, ${removed} others removed` : ''
    run.narrator.info(instance.instanceId, `copied ${files} files (${bytes} bytes) into ${copy.volume}${gone}`)
    if (skipped.length > 0)
      run.narrator.warn(
        instance.instanceId,
        `left out, since a volume takes no devices: ${skipped.slice(0, 10).join(', ')}`,
      )
  } finally {
    await folder.close()
  }
}

async function importFiles(order: StorageImport, { instance, run }: Job): Promise<void> {
  const { instanceId } = instance
  const access = run.release.instances.find((candidate) => candidate.instanceId === instanceId)?.storage
  if (!access) throw new Error('the release does not say where the storage is')
  const [{ openBucket }, { importObjects }] = await Promise.all([
    import('../storage/bucket.ts'),
    import('../storage/import-objects.ts'),
  ])
  const bucket = openBucket({ ...access, bucket: order.bucket }, run.signal)
  const folder = await openContainedFolder(await readyFolder(order.folder, run, instance), { replace: true })
  const tell = (status: string, currentBytes: number, totalBytes: number) =>
    run.narrator.progress(instanceId, { currentBytes, totalBytes, status })
  try {
    const { fetched, fetchedBytes, unchanged, removed } = await importObjects(bucket, folder, {
      prefix: order.prefix,
      owner: ownerOf(instance),
      signal: run.signal,
      onProgress: ({ currentBytes, totalBytes }) => tell('Importing', currentBytes, totalBytes),
    })
    tell('Import complete', fetchedBytes, fetchedBytes)
    run.narrator.info(
      instanceId,
      `imported ${fetched} files (${fetchedBytes} bytes) into ${order.volume}, ${unchanged} were there already, ${removed} removed`,
    )
  } finally {
    bucket.close()
    await folder.close()
  }
}

/** Nothing may keep a container from reading what was put there for it; only root can give files away. */
function ownerOf({ base }: ResolvedInstance): { user: number; group: number } | undefined {
  if (!base.user || process.getuid?.() !== 0) return undefined
  return { user: Number(base.user), group: Number(base.user) }
}

/** The folder as this process sees it; it exists afterwards. */
async function readyFolder(folder: WritableFolder, run: Run, instance: ResolvedInstance): Promise<string> {
  if (folder.kind === 'host') {
    await mkdir(folder.path, { recursive: true })
    return folder.path
  }
  const path = posix.join(run.dataDir, folder.relativePath)
  const made = await mkdir(path, { recursive: true })
  const owner = ownerOf(instance)
  if (made && owner) await chown(path, owner.user, -1)
  return path
}

/** A container that only exists. */
export const idleSpec: Omit<ContainerSpec, 'name' | 'labels' | 'image'> = {
  hostname: undefined,
  environment: {},
  entrypoint: [],
  command: [],
  workingDirectory: undefined,
  user: undefined,
  tty: false,
  restartPolicy: { name: 'no' },
  exposed: [],
  published: [],
  gated: [],
  mounts: [],
  networkMode: 'none',
  aliases: [],
  links: [],
  networks: [],
  log: undefined,
  capabilities: { add: [], drop: [] },
  healthCheck: undefined,
  resources: {},
  ulimits: [],
  shmSizeBytes: undefined,
  extraHosts: [],
}

export function imageFor(
  { instance }: Job,
  { image }: { image: Parameters<typeof imageKey>[0] },
): ContainerSpec['image'] {
  const found: PreparationImage | undefined = instance.preparationImages.get(imageKey(image))
  if (!found) throw new Error(`${imageKey(image)} was not resolved`)
  return { name: image.name, tag: image.tag, id: found.facts.id }
}

/** Makes the container of a preparation, or finds the one that an earlier process made. What another release left goes. */
export async function createPreparation(
  { index, instance, run }: Job,
  spec: Omit<ContainerSpec, 'name' | 'labels'> & { labels?: Record<string, string> },
  what: string,
): Promise<string> {
  const { engine } = run.driver
  const { owner, key } = run.release
  const own = (await findPreparations(run, instance.instanceId, index))[0]
  if (own) return own.id
  const name = preparationName(instance.full, what)
  const labels = {
    ...spec.labels,
    ...(owner ? ownerLabels(owner) : {}),
    [label.deployment]: key?.deploymentId ?? '',
    [label.release]: String(key?.number ?? 0),
    [label.preparationOf]: instance.instanceId,
    [label.preparation]: String(index),
    [label.serviceCategory]: '_preparation',
  }
  try {
    return await engine.create({ ...spec, name, labels })
  } catch (error) {
    if (!isEngineError(error, 'conflict')) throw error
    const holder = await engine.findByName(name)
    const isLeftOver = holder && owner && isOwnedBy(holder.labels, owner) && holder.labels[label.preparationOf]
    if (!isLeftOver)
      throw new EngineError('conflict', `the container ${name} exists already: remove it`, { cause: error })
    await engine.discard(holder.id, { anonymousVolumes: true })
    return engine.create({ ...spec, name, labels })
  }
}

/** Removes what preparations made, with the volumes that the engine made for them. */
export async function discardPreparations(run: Run, instanceId: string, index?: number): Promise<void> {
  const all = await findPreparations(run, instanceId, index)
  await Promise.all(all.map(({ id }) => run.driver.engine.discard(id, { anonymousVolumes: true })))
}

async function findPreparations({ driver, release }: Run, instanceId: string, index?: number) {
  const { owner, key } = release
  if (!owner || !key) return []
  return (await driver.engine.observeAll()).filter(
    ({ labels }) =>
      isOwnedBy(labels, owner) &&
      labels[label.preparationOf] === instanceId &&
      labels[label.deployment] === key.deploymentId &&
      labels[label.release] === String(key.number) &&
      (index === undefined || labels[label.preparation] === String(index)),
  )
}

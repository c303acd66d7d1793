import type { ContainerSpec } from '../drivers/container-engine.ts'
import { EngineError, isEngineError, messageOf } from '../drivers/errors.ts'
import { imageKey } from '../plan/image-reference.ts'
import { isOwnedBy, label, ownerLabels } from '../plan/labels.ts'
import { preparationName } from '../plan/names.ts'
import type { PreparationImage, ResolvedInstance } from '../plan/plan.ts'
import { PlanError } from '../plan/plan-error.ts'
import type { Preparation } from '../plan/preparations.ts'
import type { StepOf } from '../plan/steps.ts'
import { emptiedImageLabels } from '../plan/user-labels.ts'
import { partsOf, type Run } from './executors.ts'
import { copyConfig, importFiles } from './fill-volume.ts'
import { runInit } from './init-container.ts'
import { Phase } from './progress-reporter.ts'

/**
 * Runs one preparation of an instance, unless the journal shows that it is done. Copies and imports may be repeated; an init container that
 * an earlier process started is found by its labels and waited for.
 */
export async function prepareInstance({ instanceId, index }: StepOf<'instance.prepare'>, run: Run): Promise<void> {
  const { instance } = partsOf(run, instanceId)
  const preparation = instance.preparations[index]
  if (!preparation) throw new Error(`instance ${instanceId} has no preparation ${index}`)
  const key = `${instanceId}/${index}`
  if (preparation.kind !== 'init') run.overwritten.push({ instanceId, volume: preparation.volume })
  if (!run.done.has(key)) {
    run.progressReporter.running(instanceId, Phase.START, inWords(preparation))
    try {
      await doOne(preparation, { index, instance, run })
    } catch (error) {
      if (run.signal.aborted || isEngineError(error, 'away') || error instanceof PlanError) throw error
      throw new PlanError(instanceId, `${inWords(preparation)}: ${messageOf(error)}`, { cause: error })
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

/** A container that is created and never started. */
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
  stopSignal: undefined,
  stopGracePeriodSeconds: undefined,
  extraHosts: [],
}

export function imageFor(
  { instance }: Job,
  { image }: { image: Parameters<typeof imageKey>[0] },
): ContainerSpec['image'] {
  const found: PreparationImage | undefined = instance.preparationImages.get(imageKey(image))
  if (!found) throw new Error(`${imageKey(image)} was not resolved`)
  return { name: image.name, tag: image.tag, id: found.metadata.id }
}

/** Creates the container of a preparation, or finds the one that an earlier process created. Removes the one that another release left. */
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
  const image = [...instance.preparationImages.values()].find(({ metadata }) => metadata.id === spec.image.id)
  const labels = {
    ...emptiedImageLabels(image?.metadata.labels ?? {}),
    ...spec.labels,
    ...(owner ? ownerLabels(owner) : {}),
    [label.deployment]: key?.deploymentId ?? '',
    [label.release]: String(key?.number ?? 0),
    [label.preparationOf]: instance.instanceId,
    [label.preparation]: String(index),
    [label.serviceCategory]: '_preparation',
  }
  await nameImage(run, spec.image)
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

/** An image that was pulled only by its digest has no name; users who list the engine's images must see what it is. */
async function nameImage(run: Run, { id, ...image }: ContainerSpec['image']): Promise<void> {
  const reference = `${image.name}:${image.tag}`
  await run.createLock(reference, async () => {
    const known = await run.driver.engine.findImage(reference)
    if (id !== undefined && known === undefined) await run.driver.engine.tag(id, image)
  })
}

/** Removes the containers that preparations created, with the volumes that the engine created for them. */
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

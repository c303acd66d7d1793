import { EngineError, isEngineError } from '../../../errors.ts'
import { imageKey } from '../../images/image-reference.ts'
import { isOwnedBy, label, releaseLabels } from '../../labels.ts'
import type { ContainerSpec } from '../containers/container-engine.ts'
import { preparationName } from '../containers/names.ts'
import type { PreparationImage, ResolvedInstance } from '../plan/steps.ts'
import { emptiedImageLabels } from '../plan/user-labels.ts'
import { observeCreated } from './own-containers.ts'
import type { StepContext } from './release-context.ts'

export interface Job {
  index: number
  instance: ResolvedInstance
  context: StepContext
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
  { index, instance, context }: Job,
  spec: Omit<ContainerSpec, 'name' | 'labels'> & { labels?: Record<string, string> },
  what: string,
): Promise<string> {
  const { engine } = context.node.driver
  const { owner } = context.release
  const own = (await findPreparations(context, instance.instanceId, index))[0]
  if (own) return own.id
  const name = preparationName(instance.full, what)
  const image = [...instance.preparationImages.values()].find(({ metadata }) => metadata.id === spec.image.id)
  const labels = {
    ...emptiedImageLabels(image?.metadata.labels ?? {}),
    ...spec.labels,
    ...releaseLabels(context.release),
    [label.preparationOf]: instance.instanceId,
    [label.preparation]: String(index),
    [label.serviceCategory]: '_preparation',
  }
  await nameImage(context, spec.image)
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
export async function nameImage(context: StepContext, { id, ...image }: ContainerSpec['image']): Promise<void> {
  const reference = `${image.name}:${image.tag}`
  await context.node.createLock(reference, async () => {
    const known = await context.node.driver.engine.findImage(reference)
    if (id !== undefined && known === undefined) await context.node.driver.engine.tag(id, image)
  })
}

export async function findPreparations(context: StepContext, instanceId: string, index?: number) {
  return (await observeCreated(context)).filter(
    ({ labels }) =>
      labels[label.preparationOf] === instanceId &&
      (index === undefined || labels[label.preparation] === String(index)),
  )
}

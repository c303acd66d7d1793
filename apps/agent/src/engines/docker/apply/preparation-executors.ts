import { getMessage, isEngineError, PlanError } from '../../../errors.ts'
import { Phase } from '../../../journal/progress-reporter.ts'
import { imageKey } from '../../images/image-reference.ts'
import type { Preparation } from '../plan/preparations.ts'
import type { StepOf } from '../plan/steps.ts'
import { copyConfig, importFiles } from './fill-volume.ts'
import { runInit } from './init-container.ts'
import { findPreparations, type Job } from './preparation.ts'
import { type ExecutorsOf, getParts, type StepContext } from './release-context.ts'

export const preparationExecutors: ExecutorsOf<'instance.prepare' | 'preparation.discard'> = {
  'instance.prepare': prepareInstance,
  'preparation.discard': ({ instanceId }, context) => discardPreparations(context, instanceId),
}

/**
 * Runs one preparation of an instance, unless the journal shows that it is done. Copies and imports may be repeated; an init container that
 * an earlier process started is found by its labels and waited for.
 */
async function prepareInstance({ instanceId, index }: StepOf<'instance.prepare'>, context: StepContext): Promise<void> {
  const { instance } = getParts(context, instanceId)
  const preparation = instance.preparations[index]
  if (!preparation) throw new Error(`instance ${instanceId} has no preparation ${index}`)
  const key = `${instanceId}/${index}`
  if (preparation.kind !== 'init') context.state.overwritten.push({ instanceId, volume: preparation.volume })
  if (!context.state.isPrepared(key)) {
    context.progressReporter.running(instanceId, Phase.START, describe(preparation))
    try {
      await doOne(preparation, { index, instance, context })
    } catch (error) {
      if (context.signal.aborted || isEngineError(error, 'unavailable') || error instanceof PlanError) throw error
      throw new PlanError(instanceId, `${describe(preparation)}: ${getMessage(error)}`, { cause: error })
    }
    await context.state.setPrepared(key)
  }
  await discardPreparations(context, instanceId, index)
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

function describe(preparation: Preparation): string {
  switch (preparation.kind) {
    case 'config':
      return `copying ${preparation.path} of ${imageKey(preparation.image)} into ${preparation.volume}`
    case 'import':
      return `importing ${preparation.bucket}/${preparation.prefix} into ${preparation.volume}`
    case 'init':
      return `running the init container ${preparation.name}`
  }
}

/** Removes the containers that preparations created, with the volumes that the engine created for them. */
async function discardPreparations(context: StepContext, instanceId: string, index?: number): Promise<void> {
  const all = await findPreparations(context, instanceId, index)
  await Promise.all(all.map(({ id }) => context.node.driver.engine.discard(id, { anonymousVolumes: true })))
}

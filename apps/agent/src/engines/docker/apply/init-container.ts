import { PlanError } from '../../../errors.ts'
import { label } from '../../labels.ts'
import type { ContainerSpec } from '../containers/container-engine.ts'
import { idleSpec } from '../containers/idle-spec.ts'
import { networkName } from '../containers/names.ts'
import type { InitRun } from '../plan/preparations.ts'
import { ensureOwnNetwork } from './network-executors.ts'
import { readLastLines } from './own-containers.ts'
import { createPreparation, imageFor, type Job } from './preparation.ts'
import { getParts, type StepContext } from './release-context.ts'

/**
 * Runs an init container to its end. After a restart, the agent waits for the same container, so none runs twice because of it.
 *
 * @throws PlanError when it does not end with 0; its last log lines are reported
 */
export async function runInit(init: InitRun, job: Job): Promise<void> {
  const { instance, context } = job
  const { engine } = context.node.driver
  const { instanceId } = instance
  const id = await createPreparation(job, await toSpec(init, job), `init-${init.name}`)
  const { state } = await engine.observe(id)
  if (state === 'created') await engine.start(id)
  const exitCode = await engine.waitForExit(id, context.signal)
  const { outOfMemory } = await engine.observe(id)
  const lines = await readLastLines(context.node.driver, id)
  if (lines.length > 0) context.progressReporter.containerLog(instanceId, lines, exitCode !== 0)
  if (exitCode === 0) {
    context.progressReporter.info(instanceId, `the init container ${init.name} ended with exit code 0`)
    return
  }
  const reason = `${outOfMemory ? 'out of memory, ' : ''}exit code ${exitCode}`
  throw new PlanError(instanceId, `the init container ${init.name} failed: ${reason}`)
}

async function toSpec(
  init: InitRun,
  job: Job,
): Promise<Omit<ContainerSpec, 'name' | 'labels'> & { labels?: Record<string, string> }> {
  const { instance, context } = job
  const own: Omit<ContainerSpec, 'name' | 'labels'> = {
    ...idleSpec,
    image: imageFor(job, init),
    environment: init.environment,
    entrypoint: init.entrypoint,
    command: init.command,
    mounts: init.mounts,
    networkMode: await ownNetwork(context),
  }
  if (!init.withParent) return own
  const { base, config } = instance
  const { planned } = getParts(context, instance.instanceId)
  const secretKeys = config.secrets.map(({ key }) => key)
  return {
    ...own,
    environment: { ...context.secrets.get(instance.instanceId), ...base.environment, ...init.environment },
    networkMode: base.networkMode,
    links: planned.links,
    networks: instance.networks.map(({ name }) => ({ name, aliases: [] })),
    extraHosts: base.extraHosts,
    // An inspection redacts the values of these keys.
    ...(secretKeys.length > 0 ? { labels: { [label.secretKeys]: secretKeys.join(',') } } : {}),
  }
}

/** The engine's default bridge would connect it to containers of all users of the machine. */
async function ownNetwork({ node, release }: StepContext): Promise<string> {
  if (!release.owner) throw new PlanError('', 'the release names no owner')
  const name = networkName(release.owner)
  await ensureOwnNetwork(node.driver, release, name, false)
  return name
}

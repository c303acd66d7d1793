import { notApplied } from '@crux/rules'
import { EngineError, isEngineError, PlanError, undefinedIfMissing } from '../../../errors.ts'
import { ContainerState, Phase } from '../../../journal/progress-reporter.ts'
import { describeExpectation } from '../../expectation.ts'
import { label } from '../../labels.ts'
import type { ContainerSpec } from '../containers/container-engine.ts'
import { holderName, portTaken } from '../plan/clashes.ts'
import { uncoveredVolumes } from '../plan/conflicts.ts'
import { imagePorts } from '../plan/image-ports.ts'
import type { PlannedInstance, ResolvedInstance, StepOf } from '../plan/steps.ts'
import { toHash } from '../plan/transition.ts'
import { emptiedImageLabels } from '../plan/user-labels.ts'
import { findOwn, getId } from './own-containers.ts'
import { type ExecutorsOf, getParts, type StepContext } from './release-context.ts'
import { verify, watchOne } from './verify.ts'

export const containerExecutors: ExecutorsOf<
  | 'container.create'
  | 'container.start'
  | 'container.verify'
  | 'container.finalize'
  | 'container.rename'
  | 'new.discard'
> = {
  'container.create': createContainer,
  'container.start': startContainer,
  'container.verify': verifyContainer,
  'container.finalize': finalizeContainer,
  'container.rename': async ({ target, to }, context) => {
    const { engine } = context.node.driver
    const id = getId(context, target)
    const seen = await engine.observe(id).catch(undefinedIfMissing)
    if (!seen || seen.name === to) return
    await engine.rename(id, to)
  },
  'new.discard': async ({ instanceId }, context) => {
    const { containers } = context.state
    const id = containers.get(instanceId) ?? (await findOwn(context, instanceId))
    if (id) await context.node.driver.engine.discard(id)
    containers.delete(instanceId)
  },
}

async function createContainer({ instanceId }: StepOf<'container.create'>, context: StepContext): Promise<void> {
  const { progressReporter } = context
  const { driver } = context.node
  const { planned, instance } = getParts(context, instanceId)
  // A restarted agent finds the container that it created before, under its current name.
  if (context.state.containers.has(instanceId)) return
  progressReporter.running(instanceId, Phase.CREATE)
  for (const directory of instance.directories) {
    const volume = await context.node.data.openVolume(directory.relativePath)
    // A container that runs as a configured user must be able to write to its data directory.
    if (instance.base.user) await volume.giveTo(Number(instance.base.user)).catch(() => undefined)
    await volume.close()
  }
  const uncovered = uncoveredVolumes({ spec: instance.base, imageVolumes: instance.metadata.volumes })
  if (uncovered.length > 0) {
    progressReporter.warn(
      instanceId,
      `the image keeps data in ${uncovered.join(', ')}, which no volume of the configuration holds: each new container finds it empty`,
    )
  }
  if (instance.base.healthCheck && !instance.base.healthCheck.test && !instance.metadata.hasHealthCheck)
    progressReporter.warn(instanceId, 'healthCheckConfig: the image has no health check whose times could be changed')
  for (const { property, description } of notApplied(instance.config, 'docker'))
    progressReporter.warn(instanceId, `${property}: ${description}`)
  for (const reason of planned.reasons)
    progressReporter.info(instanceId, `${planned.full} pauses while it is replaced: ${reason}`)
  const spec = await toSpec(context, planned, instance)
  const id = await context.node.createLock(`${instance.image.name}:${instance.image.tag}`, async () => {
    // The container shows name and tag; the run checks again that they refer to this image.
    if (!instance.tagged) {
      const tagged = await driver.engine.findImage(`${instance.image.name}:${instance.image.tag}`)
      if (tagged?.id !== instance.metadata.id) await driver.engine.tag(instance.metadata.id, instance.image)
    }
    return createOrAdopt(context, instanceId, spec)
  })
  context.state.containers.set(instanceId, id)
  progressReporter.done(instanceId, Phase.CREATE)
  progressReporter.state(instanceId, ContainerState.WAITING, 'Created')
}

async function toSpec(
  context: StepContext,
  planned: PlannedInstance,
  instance: ResolvedInstance,
): Promise<ContainerSpec> {
  const ports = imagePorts(instance.metadata.labels)
  if (ports.problem) context.progressReporter.warn(instance.instanceId, ports.problem)
  const { base } = instance
  const isNew = ({ port }: { port: number }) => !base.exposed.some((known) => known.port === port)
  return {
    ...base,
    exposed: [...base.exposed, ...ports.exposed.filter(isNew)],
    published: [
      ...base.published,
      ...(base.networkMode === context.plan.network ? ports.published : []).filter(({ containerPort }) =>
        isNew({ port: containerPort }),
      ),
    ],
    name: planned.createName,
    // The container gets its own policy after verification. It needs the policy earlier only if it is expected to wait for a restart.
    restartPolicy: instance.config.expectedState?.state === 'waiting' ? instance.base.restartPolicy : { name: 'no' },
    environment: { ...context.secrets.get(instance.instanceId), ...instance.base.environment },
    labels: {
      ...emptiedImageLabels(instance.metadata.labels),
      ...instance.base.labels,
      [label.configHash]: toHash(instance),
    },
    aliases: planned.aliases,
    links: planned.links,
    networks: planned.networks,
  }
}

/** After a crash the container may exist already: its labels show whether it belongs to this release. */
async function createOrAdopt(context: StepContext, instanceId: string, spec: ContainerSpec): Promise<string> {
  const { engine } = context.node.driver
  try {
    return await engine.create(spec)
  } catch (error) {
    if (!isEngineError(error, 'conflict')) {
      if (isEngineError(error, 'unavailable') || !(error instanceof EngineError)) throw error
      throw new PlanError(instanceId, error.message, { cause: error })
    }
    const own = await findOwn(context, instanceId)
    if (own === undefined) {
      throw new PlanError(
        instanceId,
        `the container ${spec.name} exists already and is not this project's: choose another prefix or name, or remove it`,
        { cause: error },
      )
    }
    for (const { name, aliases } of spec.networks) await engine.joinNetwork(own, name, aliases)
    return own
  }
}

async function startContainer({ instanceId }: StepOf<'container.start'>, context: StepContext): Promise<void> {
  const { progressReporter } = context
  const { driver } = context.node
  const { planned, instance, expected } = getParts(context, instanceId)
  const id = getId(context, { kind: 'new', instanceId })
  progressReporter.running(instanceId, Phase.START)
  context.state.watched.get(instanceId)?.watched.close()
  const watched = watchOne(driver, id, { isFresh: !context.state.resumed })
  context.state.watched.set(instanceId, { watched, startedAt: performance.now() })
  try {
    // A container that an earlier process started and that has ended since is verified, not started again.
    if (!context.state.resumed || (await driver.engine.observe(id)).state === 'created') await driver.engine.start(id)
  } catch (error) {
    if (!isEngineError(error, 'port-taken')) throw error
    throw new PlanError(instanceId, await findPortHolder(context, instance, error.message), { cause: error })
  }
  // The observation window starts when the engine has started the container: a busy machine may need longer for the start than the window.
  context.state.watched.set(instanceId, { watched, startedAt: performance.now() })
  progressReporter.done(instanceId, Phase.START)
  progressReporter.running(instanceId, Phase.VERIFY, describeExpectation(expected))
  progressReporter.state(instanceId, ContainerState.RUNNING, `${planned.full} runs`)
}

async function verifyContainer({ instanceId }: StepOf<'container.verify'>, context: StepContext): Promise<void> {
  const { planned, instance, expected } = getParts(context, instanceId)
  const id = getId(context, { kind: 'new', instanceId })
  const { watched, startedAt } = context.state.watched.get(instanceId) ?? {
    watched: watchOne(context.node.driver, id, { isFresh: false }),
    startedAt: performance.now(),
  }
  try {
    const { full } = planned
    const order = { instanceId, full, id, imageId: instance.metadata.id, expectation: expected, startedAt }
    await verify(context.node.driver, { ...order, signal: context.signal }, watched)
    context.progressReporter.done(instanceId, Phase.VERIFY)
    if (expected.kind === 'exited')
      context.progressReporter.state(instanceId, ContainerState.EXITED, `exit code ${expected.exitCode} as expected`)
  } finally {
    watched.close()
    context.state.watched.delete(instanceId)
  }
}

async function finalizeContainer({ instanceId }: StepOf<'container.finalize'>, context: StepContext): Promise<void> {
  const { planned, instance, expected } = getParts(context, instanceId)
  const id = getId(context, { kind: 'new', instanceId })
  const { restartPolicy } = instance.base
  // A container that is expected to wait for a restart has its policy from its creation, and the engine cannot update a stopped container.
  const hasPolicy = expected.kind === 'waiting'
  if (restartPolicy.name !== 'no' && !hasPolicy) await context.node.driver.engine.setRestartPolicy(id, restartPolicy)
  if (expected.kind !== 'running') return
  // The container may have ended while others were still being checked, or before it had its policy.
  const { state, exitCode } = await context.node.driver.engine.observe(id)
  if (state !== 'running')
    throw new PlanError(instanceId, `${planned.full} ended before the release was complete: exit code ${exitCode}`)
}

/** The engine only reports that a port is taken; users need to know which process or container holds it. */
async function findPortHolder(context: StepContext, instance: ResolvedInstance, message: string): Promise<string> {
  const named = Number(/(?::|port )(\d{1,5})(?:\D|$)/.exec(message.replace(/^.*?(?:Bind for|listen \w+)/, ''))?.[1])
  const all = await context.node.driver.engine.observeAll().catch(() => [])
  for (const wanted of instance.base.published) {
    const holder = all.find(
      ({ id, running, published }) =>
        running &&
        id !== context.state.containers.get(instance.instanceId) &&
        published.some((port) => port.hostPort === wanted.hostPort && port.protocol === wanted.protocol),
    )
    if (holder) return portTaken(wanted.hostPort, holderName(holder, context.release.owner))
  }
  return portTaken(
    instance.base.published.find(({ hostPort }) => hostPort === named)?.hostPort ??
      instance.base.published[0]?.hostPort ??
      0,
    'another process of the machine',
  )
}

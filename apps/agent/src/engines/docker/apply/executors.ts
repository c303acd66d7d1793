import type { Release } from '@crux/agent-protocol'
import { notApplied } from '@crux/rules'
import { pause } from '../../../concurrency/pause.ts'
import { EngineError, isEngineError } from '../../../errors/engine-error.ts'
import { PlanError } from '../../../errors/plan-error.ts'
import { ContainerState, Phase } from '../../../journal/progress-reporter.ts'
import { isOwnedBy, label, ownerOf } from '../../labels.ts'
import type { ContainerSpec } from '../containers/container-engine.ts'
import type { Driver } from '../containers/driver.ts'
import { handoverNetworkName, networkName } from '../containers/names.ts'
import { verifyEngineNetwork } from '../networks/team-networks.ts'
import { holderName, portTaken } from '../plan/clashes.ts'
import { uncoveredVolumes } from '../plan/conflicts.ts'
import { imagePorts } from '../plan/image-ports.ts'
import type { ResolvedInstance } from '../plan/observation.ts'
import { hashOf } from '../plan/plan.ts'
import type { PlannedInstance, Step, StepOf, Target } from '../plan/steps.ts'
import { emptiedImageLabels } from '../plan/user-labels.ts'
import { expectationInWords, expectationOf } from './expectation.ts'
import {
  drainPreviousContainers,
  releasePorts,
  reservePorts,
  routePorts,
  suspendPorts,
  waitForPorts,
} from './gate-steps.ts'
import { discardPreparations, prepareInstance } from './prepare.ts'
import { retryWhileUnavailable } from './retry-while-unavailable.ts'
import { ensureOwnNetwork, partsOf, type Run } from './run.ts'
import { verify, watchOne } from './verify.ts'

type Executors = { [K in Step['kind']]: (step: StepOf<K>, run: Run) => Promise<void> }

/** One executor per kind of step; a new kind without an executor does not compile. Each executor may be repeated after a crash. */
const executors: Executors = {
  'network.ensure': async ({ network, internal }, { driver, release, ensured }) => {
    if (!ensured.has(network)) await ensureOwnNetwork(driver, release, network, internal)
    ensured.add(network)
  },
  'team-network.ensure': async ({ network, key }, { release, teamNetworks }) => {
    if (release.owner) await teamNetworks.ensure({ name: network, key }, release.owner)
  },
  'engine-network.verify': ({ network }, { driver }) => verifyEngineNetwork(driver.engine, network),
  'container.create': createContainer,
  'previous.stop': async ({ id, name, instanceId, restartPolicy }, { driver, progressReporter }) => {
    progressReporter.silences(instanceId, name)
    const startedAt = performance.now()
    // Otherwise an engine that restarts in between would start it again beside the new one.
    if (restartPolicy.name === 'always' || restartPolicy.name === 'on-failure')
      await ignoreMissing(driver.engine.setRestartPolicy(id, { name: 'no' }))
    await ignoreMissing(driver.engine.stop(id))
    progressReporter.stopped(instanceId, name, performance.now() - startedAt)
  },
  'instance.prepare': prepareInstance,
  'container.start': startContainer,
  'container.verify': verifyContainer,
  'container.finalize': finalizeContainer,
  'network.join': async ({ target, network, aliases }, run) => {
    try {
      await run.driver.engine.joinNetwork(idOf(run, target), network, aliases)
    } catch (error) {
      // A neighbour that ended in the meantime needs no names.
      if (target.kind === 'new' || !(isEngineError(error, 'not-found') || isEngineError(error, 'conflict'))) throw error
    }
  },
  'container.rename': async ({ target, to }, run) => {
    const id = idOf(run, target)
    const seen = await run.driver.engine.observe(id).catch(undefinedIfMissing)
    if (!seen || seen.name === to) return
    await run.driver.engine.rename(id, to)
  },
  'gate.reserve': reservePorts,
  'gate.suspend': suspendPorts,
  'gate.wait': waitForPorts,
  'gate.route': routePorts,
  'gate.release': releasePorts,
  'gate.drain': drainPreviousContainers,
  drain: async ({ ms }, { progressReporter, signal }) => {
    progressReporter.info('', `old and new run side by side for ${ms / 1_000} s, so that open connections end`)
    await pause(ms, signal)
  },
  'previous.remove': async ({ id, name, instanceId }, { driver, progressReporter, release }) => {
    const seen = await driver.engine.observe(id).catch(undefinedIfMissing)
    if (!seen) return
    if (!release.owner || !isOwnedBy(seen.labels, release.owner)) return
    if (seen.state === 'running') await ignoreMissing(driver.engine.stop(id))
    await driver.engine.discard(id)
    await removeNetworkOfDeletedNode(driver, seen.labels, release.owner)
    progressReporter.info(
      instanceId,
      instanceId === '' ? `removed ${name}, which is no longer part of the version` : `removed the previous ${name}`,
    )
  },
  'new.discard': async ({ instanceId }, run) => {
    const id = run.ids.get(instanceId) ?? (await findOwn(run, instanceId))
    if (id) await run.driver.engine.discard(id)
    run.ids.delete(instanceId)
  },
  'preparation.discard': async ({ instanceId }, run) => discardPreparations(run, instanceId),
  'previous.restore': async ({ id, name, instanceId, restartPolicy }, { driver, progressReporter }) => {
    const seen = await driver.engine.observe(id)
    if (seen.restartPolicy.name !== restartPolicy.name) await driver.engine.setRestartPolicy(id, restartPolicy)
    if (seen.state === 'running') return
    await driver.engine.start(id)
    progressReporter.info(instanceId, `started the previous ${name} again`)
  },
}

/** No other agent would remove it: the node whose prefix the network was for is deleted, and its last container was just removed. */
async function removeNetworkOfDeletedNode(
  driver: Driver,
  labels: Record<string, string>,
  owner: NonNullable<Release['owner']>,
): Promise<void> {
  const previous = ownerOf(labels)
  if (!previous || previous.nodeId === owner.nodeId) return
  for (const name of [handoverNetworkName(previous), networkName(previous)])
    await driver.engine.removeNetworkIfUnused(name).catch(() => undefined)
}

/** Waits while the engine is unavailable, so that its restart fails no deployment. */
export async function execute<S extends Step>(step: S, run: Run): Promise<void> {
  run.signal.throwIfAborted()
  // The table is exhaustive over the kinds; TypeScript cannot infer that key and argument belong together.
  const executor = executors[step.kind] as (step: S, run: Run) => Promise<void>
  await retryWhileUnavailable(() => executor(step, run), run.signal)
}

export async function inOrder(steps: readonly Step[], run: Run): Promise<void> {
  for (const step of steps) await execute(step, run)
}

async function createContainer({ instanceId }: StepOf<'container.create'>, run: Run): Promise<void> {
  const { driver, progressReporter } = run
  const { planned, instance } = partsOf(run, instanceId)
  // A restarted agent finds the container that it created before, under its current name.
  if (run.ids.has(instanceId)) return
  progressReporter.running(instanceId, Phase.CREATE)
  for (const directory of instance.directories) {
    const volume = await run.data.openVolume(directory.relativePath)
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
  if (instance.base.healthCheck && !instance.base.healthCheck.command && !instance.metadata.hasHealthCheck)
    progressReporter.warn(instanceId, 'healthCheckConfig: the image has no health check whose times could be changed')
  for (const { property, description } of notApplied(instance.config, 'docker'))
    progressReporter.warn(instanceId, `${property}: ${description}`)
  for (const reason of planned.reasons)
    progressReporter.info(instanceId, `${planned.full} pauses while it is replaced: ${reason}`)
  const spec = await specOf(run, planned, instance)
  const id = await run.createLock(`${instance.image.name}:${instance.image.tag}`, async () => {
    // The container shows name and tag; the run checks again that they refer to this image.
    if (!instance.tagged) {
      const tagged = await driver.engine.findImage(`${instance.image.name}:${instance.image.tag}`)
      if (tagged?.id !== instance.metadata.id) await driver.engine.tag(instance.metadata.id, instance.image)
    }
    return createOrAdopt(run, instanceId, spec)
  })
  run.ids.set(instanceId, id)
  progressReporter.done(instanceId, Phase.CREATE)
  progressReporter.state(instanceId, ContainerState.WAITING, 'Created')
}

async function specOf(run: Run, planned: PlannedInstance, instance: ResolvedInstance): Promise<ContainerSpec> {
  const ports = imagePorts(instance.metadata.labels)
  if (ports.problem) run.progressReporter.warn(instance.instanceId, ports.problem)
  const { base } = instance
  const isNew = ({ port }: { port: number }) => !base.exposed.some((known) => known.port === port)
  return {
    ...base,
    exposed: [...base.exposed, ...ports.exposed.filter(isNew)],
    published: [
      ...base.published,
      ...(base.networkMode === run.plan.network ? ports.published : []).filter(({ containerPort }) =>
        isNew({ port: containerPort }),
      ),
    ],
    name: planned.createName,
    // The container gets its own policy after verification. It needs the policy earlier only if it is expected to wait for a restart.
    restartPolicy: instance.config.expectedState?.state === 'waiting' ? instance.base.restartPolicy : { name: 'no' },
    environment: { ...run.secrets.get(instance.instanceId), ...instance.base.environment },
    labels: {
      ...emptiedImageLabels(instance.metadata.labels),
      ...instance.base.labels,
      [label.configHash]: hashOf(instance),
    },
    aliases: planned.aliases,
    links: planned.links,
    networks: planned.networks,
  }
}

/** After a crash the container may exist already: its labels show whether it belongs to this release. */
async function createOrAdopt(run: Run, instanceId: string, spec: ContainerSpec): Promise<string> {
  const { engine } = run.driver
  try {
    return await engine.create(spec)
  } catch (error) {
    if (!isEngineError(error, 'conflict')) {
      if (isEngineError(error, 'away') || !(error instanceof EngineError)) throw error
      throw new PlanError(instanceId, error.message, { cause: error })
    }
    const own = await findOwn(run, instanceId)
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

async function startContainer({ instanceId }: StepOf<'container.start'>, run: Run): Promise<void> {
  const { driver, progressReporter } = run
  const { planned, instance } = partsOf(run, instanceId)
  const id = idOf(run, { kind: 'new', instanceId })
  progressReporter.running(instanceId, Phase.START)
  run.watched.get(instanceId)?.watched.close()
  const watched = watchOne(driver, id, { isFresh: !run.resumed })
  run.watched.set(instanceId, { watched, startedAt: performance.now() })
  try {
    // A container that an earlier process started and that has ended since is verified, not started again.
    if (!run.resumed || (await driver.engine.observe(id)).state === 'created') await driver.engine.start(id)
  } catch (error) {
    if (!isEngineError(error, 'port-taken')) throw error
    throw new PlanError(instanceId, await findPortHolder(run, instance, error.message), { cause: error })
  }
  // The observation window starts when the engine has started the container: a busy machine may need longer for the start than the window.
  run.watched.set(instanceId, { watched, startedAt: performance.now() })
  progressReporter.done(instanceId, Phase.START)
  const expected = expectationOf(instance.config, run.release.observationWindowMs)
  progressReporter.running(instanceId, Phase.VERIFY, expectationInWords(expected))
  progressReporter.state(instanceId, ContainerState.RUNNING, `${planned.full} runs`)
}

async function verifyContainer({ instanceId }: StepOf<'container.verify'>, run: Run): Promise<void> {
  const { planned, instance } = partsOf(run, instanceId)
  const id = idOf(run, { kind: 'new', instanceId })
  const { watched, startedAt } = run.watched.get(instanceId) ?? {
    watched: watchOne(run.driver, id, { isFresh: false }),
    startedAt: performance.now(),
  }
  try {
    const expectation = expectationOf(instance.config, run.release.observationWindowMs)
    await verify(
      run.driver,
      { instanceId, full: planned.full, id, imageId: instance.metadata.id, expectation, startedAt, signal: run.signal },
      watched,
    )
    run.progressReporter.done(instanceId, Phase.VERIFY)
    if (expectation.kind === 'exited')
      run.progressReporter.state(instanceId, ContainerState.EXITED, `exit code ${expectation.exitCode} as expected`)
  } finally {
    watched.close()
    run.watched.delete(instanceId)
  }
}

async function finalizeContainer({ instanceId }: StepOf<'container.finalize'>, run: Run): Promise<void> {
  const { planned, instance } = partsOf(run, instanceId)
  const id = idOf(run, { kind: 'new', instanceId })
  const { restartPolicy } = instance.base
  // A container that is expected to wait for a restart has its policy from its creation, and the engine cannot update a stopped container.
  const hasPolicy = instance.config.expectedState?.state === 'waiting'
  if (restartPolicy.name !== 'no' && !hasPolicy) await run.driver.engine.setRestartPolicy(id, restartPolicy)
  if (expectationOf(instance.config, run.release.observationWindowMs).kind !== 'running') return
  // The container may have ended while others were still being checked, or before it had its policy.
  const { state, exitCode } = await run.driver.engine.observe(id)
  if (state !== 'running')
    throw new PlanError(instanceId, `${planned.full} ended before the release was complete: exit code ${exitCode}`)
}

/** The engine only reports that a port is taken; users need to know which process or container holds it. */
export async function findPortHolder(run: Run, instance: ResolvedInstance, words: string): Promise<string> {
  const named = Number(/(?::|port )(\d{1,5})(?:\D|$)/.exec(words.replace(/^.*?(?:Bind for|listen \w+)/, ''))?.[1])
  const all = await run.driver.engine.observeAll().catch(() => [])
  for (const wanted of instance.base.published) {
    const holder = all.find(
      ({ id, running, published }) =>
        running &&
        id !== run.ids.get(instance.instanceId) &&
        published.some((port) => port.hostPort === wanted.hostPort && port.protocol === wanted.protocol),
    )
    if (holder) return portTaken(wanted.hostPort, holderName(holder, run.release.owner))
  }
  return portTaken(
    instance.base.published.find(({ hostPort }) => hostPort === named)?.hostPort ??
      instance.base.published[0]?.hostPort ??
      0,
    'another process of the machine',
  )
}

/** Finds the release's own container of an instance by its labels; undefined when there is none. */
export async function findOwn(run: Pick<Run, 'driver' | 'release'>, instanceId: string): Promise<string | undefined> {
  const { owner, key } = run.release
  if (!owner || !key) return undefined
  const own = (await run.driver.engine.observeAll()).find(
    ({ labels }) =>
      isOwnedBy(labels, owner) &&
      !labels[label.preparationOf] &&
      labels[label.instance] === instanceId &&
      labels[label.deployment] === key.deploymentId &&
      labels[label.release] === String(key.number),
  )
  return own?.id
}

function idOf(run: Run, target: Target): string {
  if (target.kind === 'previous') return target.id
  const id = run.ids.get(target.instanceId)
  if (!id) throw new Error(`the container of instance ${target.instanceId} does not exist`)
  return id
}

async function ignoreMissing(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (!isEngineError(error, 'not-found')) throw error
  }
}

function undefinedIfMissing(error: unknown): undefined {
  if (!isEngineError(error, 'not-found')) throw error
}

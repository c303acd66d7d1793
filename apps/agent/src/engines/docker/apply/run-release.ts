import { setMaxListeners } from 'node:events'
import type { Release } from '@crux/agent-protocol'
import { allOrFirstError } from '../../../concurrency/all-or-first-error.ts'
import { AbortedError, EngineError, getMessage, PlanError } from '../../../errors.ts'
import {
  crashesMax,
  enterPosition,
  isUndoGivenUp,
  refuseCrashLoop,
  whileEntering,
} from '../../../journal/crash-loop.ts'
import type { Journal } from '../../../journal/journal.ts'
import { createProgressReporter, Phase } from '../../../journal/progress-reporter.ts'
import { type OpenedSecrets, openSecrets } from '../../../secrets/environment.ts'
import { checkRelease } from '../../check-release.ts'
import type { ReleaseControl } from '../../engine.ts'
import { isOwnedBy, label } from '../../labels.ts'
import { retryWhileUnavailable } from '../../retry-while-unavailable.ts'
import type { Driver } from '../containers/container-engine.ts'
import { claimedPorts } from '../containers/gated-ports.ts'
import { networkName } from '../containers/names.ts'
import { portTaken } from '../plan/clashes.ts'
import { sharedPort } from '../plan/conflicts.ts'
import { type DesiredInstance, toDesiredInstance } from '../plan/container-spec.ts'
import { planRelease } from '../plan/plan.ts'
import { listImages } from '../plan/preparations.ts'
import type { Observation, Plan, ResolvedInstance, Step } from '../plan/steps.ts'
import { checkSources } from './check-sources.ts'
import { succeedAndCleanUp } from './clean-up.ts'
import { execute, inOrder, inStages } from './executors.ts'
import { ensureOwnNetwork } from './network-executors.ts'
import { findOwn, readLastLines } from './own-containers.ts'
import { putBack } from './put-back.ts'
import { type DockerNode, getPlan, type ReleaseContext, type StepContext, toStepContext } from './release-context.ts'
import { resolveAndPull } from './resolve.ts'
import { startAndVerify, toPlanError } from './start-and-verify.ts'
import { verifyRoutes } from './verify-routes.ts'

/**
 * All images are pulled before anything starts, so a failed pull changes nothing. The previous containers go after every new one is
 * verified.
 */
export async function runRelease(journal: Journal, node: DockerNode, control: ReleaseControl): Promise<void> {
  const { signal } = control
  setMaxListeners(0, signal)
  const progressReporter = createProgressReporter(journal)
  const context: ReleaseContext = { node, journal, release: journal.release, progressReporter, control, signal }
  const { committed, undoing } = journal.state
  if ((committed && !undoing) || (await takeOver(context))) {
    control.tookOver()
    await succeedAndCleanUp(context)
  }
}

/** @returns whether the new containers have taken over; otherwise everything is restored and the failure is reported */
async function takeOver(context: ReleaseContext): Promise<boolean> {
  const { journal, node, progressReporter, release, signal } = context
  const { undoing } = journal.state
  let steps: StepContext | undefined
  const unclaim: (() => void)[] = []
  try {
    if (undoing) throw new PlanError(undoing.instanceId, undoing.reason)
    signal.throwIfAborted()
    refuseCrashLoop(journal)
    await enterPosition(journal, 'resolve')
    checkRelease(release)
    const desired = release.instances.map((instance) => toDesiredInstance(release, instance, node.nodeEnvironment))
    await checkSources(node.sources, desired)
    const secrets = await openSecrets(node.decrypt, desired)
    progressReporter.hide([...secrets.values()].flatMap((values) => Object.values(values)))
    unclaim.push(await node.images.claims.claim(wantedImages(release, desired)))
    unclaim.push(node.teamNetworks.claim(desired.flatMap(({ networks }) => networks.map(({ name }) => name))))
    const early = prefetch(context, desired)
    const resolved = await resolveAndPull({
      sources: { driver: node.driver, ...node.images },
      release,
      desired,
      known: journal.state.digests ?? {},
      progressReporter,
      signal,
      onResolved: (digests) => Object.assign(journal.state, { digests }),
    })
    signal.throwIfAborted()
    steps = await whileEntering(journal, 'plan', () => prepareSteps(context, { resolved, secrets, early }))
    await applyPlan(steps)
    return true
  } catch (error) {
    if (error instanceof AbortedError && error.kind === 'shutdown') throw error
    await fail(context, steps, error)
    return false
  } finally {
    for (const end of unclaim) end()
  }
}

/** Names of all images that the release resolves, and ids of those that it needs from the engine's own store. */
function wantedImages({ instances }: Release, desired: readonly DesiredInstance[]): string[] {
  return [
    ...desired.flatMap(({ image, preparations }) => [image, ...listImages(preparations)].map(({ name }) => name)),
    ...instances.flatMap(({ imageDigest, preparationDigests }) => [imageDigest, ...Object.values(preparationDigests)]),
  ]
}

/** Work that takes time and changes nothing visible runs while the registries answer. */
interface Prefetched {
  observation: Promise<Observation | undefined>
  network: Promise<string | undefined>
}

function prefetch({ journal, node, release }: ReleaseContext, desired: readonly DesiredInstance[]): Prefetched {
  const nothing = Promise.resolve(undefined)
  const { owner } = release
  if (getPlan(journal) || !owner) return { observation: nothing, network: nothing }
  const name = networkName(owner)
  const network = desired.some(({ base }) => base.networkMode === name)
    ? ensureOwnNetwork(node.driver, release, name, false).then(
        () => name,
        () => undefined,
      )
    : nothing
  return { observation: observeNode(node.driver, release).catch(() => undefined), network }
}

async function prepareSteps(
  context: ReleaseContext,
  { resolved, secrets, early }: { resolved: ResolvedInstance[]; secrets: OpenedSecrets; early: Prefetched },
): Promise<StepContext> {
  const { journal, signal } = context
  const stored = getPlan(journal)
  // A pull takes time, so an observation from before it is outdated.
  const observation = resolved.every(({ wasPulled }) => !wasPulled) ? await early.observation : undefined
  const plan = stored ?? (await retryWhileUnavailable(() => planNow(context, resolved, observation), signal))
  const network = await early.network
  const steps = toStepContext(context, plan, { resolved, secrets, resumed: stored !== undefined })
  if (network !== undefined) steps.state.networks.add(network)
  if (stored) {
    for (const { instanceId, mode } of plan.instances) {
      const own = mode === 'keep' ? undefined : await retryWhileUnavailable(() => findOwn(context, instanceId), signal)
      if (own) steps.state.containers.set(instanceId, own)
    }
  }
  return steps
}

async function observeNode(driver: Driver, release: Release): Promise<Observation> {
  const all = await driver.engine.observeAll()
  const owned = await allOrFirstError(
    all
      .filter(({ labels }) => release.owner && isOwnedBy(labels, release.owner) && !labels[label.preparationOf])
      .map(({ id }) => driver.engine.observe(id)),
  )
  return { all, owned }
}

async function planNow(
  { journal, node, release }: ReleaseContext,
  resolved: ResolvedInstance[],
  seen: Observation | undefined,
): Promise<Plan> {
  const { driver, gate } = node
  const observation = seen ?? (await observeNode(driver, release))
  const plan = planRelease(release, resolved, observation)
  const gated = resolved.find(({ base }) => base.gated.length > 0)
  if (gated && gate.unusable) throw new PlanError(gated.instanceId, gate.unusable)
  const held = [...observation.all.filter(({ running }) => running).flatMap(claimedPorts), ...(await gate.heldPorts())]
  for (const instance of resolved) {
    if (plan.instances.find(({ instanceId }) => instanceId === instance.instanceId)?.mode === 'keep') continue
    for (const port of claimedPorts(instance.base)) {
      if (sharedPort([port], held)) continue
      if (await driver.engine.portTakenByProcess(port))
        throw new PlanError(instance.instanceId, portTaken(port.hostPort, 'another process of the machine'))
    }
  }
  const { digests } = journal.state
  await journal.decide({ ...(digests ? { digests } : {}), plan, position: 'create' })
  return plan
}

/** Runs everything up to the point of no return. */
async function applyPlan(context: StepContext): Promise<void> {
  const { control, journal, plan, progressReporter, signal } = context
  for (const { instanceId, mode } of plan.instances) {
    if (mode === 'keep') {
      for (const phase of [Phase.CREATE, Phase.START, Phase.VERIFY, Phase.SWAP])
        progressReporter.skipped(instanceId, phase, 'unchanged')
      if (context.resolved.get(instanceId)?.preparations.some(({ kind }) => kind === 'import'))
        progressReporter.info(instanceId, 'it did not change, so nothing was imported: replace it too to import again')
    }
  }
  await enterPosition(journal, 'create')
  await inOrder(plan.prepare, context)
  await withPhase(context, Phase.CREATE, plan.create, () =>
    allOrFirstError(plan.create.map((step) => execute(step, context))),
  )
  await verifyRoutes(context)
  if (plan.start.some(({ steps }) => steps.some(({ kind }) => kind === 'previous.stop'))) {
    await control.mayProceed(signal)
    // The service has downtime from here on: the journal must survive any failure, so that the service is restored.
    await journal.secure()
  }
  await enterPosition(journal, 'start')
  const ahead = ensureNetworksAhead(context)
  await startAndVerify(context).finally(() => ahead)
  await control.mayProceed(signal)
  signal.throwIfAborted()
  await enterPosition(journal, 'handover')
  for (const { instanceId, mode } of plan.instances)
    if (mode !== 'keep') progressReporter.running(instanceId, Phase.SWAP)
  // Joining networks takes nothing from the previous containers, so the last check of the new ones runs in parallel.
  const firstTaken = plan.handover.findIndex(({ kind }) => !kind.startsWith('network.'))
  const joins = firstTaken < 0 ? plan.handover : plan.handover.slice(0, firstTaken)
  await allOrFirstError([...plan.finalize.map((step) => execute(step, context)), inStages(joins, context)])
  await inStages(plan.handover.slice(joins.length), context)
  for (const { instanceId, mode } of plan.instances) {
    if (mode === 'first') progressReporter.skipped(instanceId, Phase.SWAP, 'there was nothing to replace')
    else if (mode !== 'keep') progressReporter.done(instanceId, Phase.SWAP)
  }
  await journal.decide({ committed: true })
  if (plan.cleanUp.length > 0) await journal.secure()
}

/** Creates networks that only the handover needs while the new containers are being observed. A failure here fails the handover itself. */
async function ensureNetworksAhead(context: StepContext): Promise<void> {
  const ensures = context.plan.handover.filter(({ kind }) => kind === 'network.ensure')
  await Promise.allSettled(ensures.map((step) => execute(step, context)))
}

/** Reports the reason, stores the last log lines of what failed, restores everything, and reports whether that succeeded. */
async function fail(context: ReleaseContext, steps: StepContext | undefined, error: unknown): Promise<void> {
  const { journal, progressReporter } = context
  const { log } = context.node
  const cancelled = error instanceof AbortedError && error.kind === 'cancelled'
  const refusal = toPlanError(error, '')
  const undoing = journal.state.undoing
  const notWritten = (cause: unknown) => log.warn({ reason: getMessage(cause) }, 'a decision is not written yet')
  if (!undoing) {
    if (!(error instanceof PlanError || error instanceof AbortedError || error instanceof EngineError))
      log.error({ err: error }, 'a deployment failed unexpectedly')
    if (cancelled) progressReporter.warn('', 'cancelled: everything is put back')
    else progressReporter.error(refusal.instanceId, refusal.message)
    if (steps && refusal.instanceId !== '') await reportLastLogLines(steps, refusal.instanceId)
    for (const { instanceId, volume } of steps?.state.overwritten ?? [])
      progressReporter.warn(
        instanceId,
        `the volume ${volume} keeps the files that were brought into it: they are not put back`,
      )
    // Nothing may prevent the restore of a previous container, not even a full disk.
    await journal
      .decide({ undoing: { reason: refusal.message, instanceId: refusal.instanceId, cancelled }, position: 'undo' })
      .catch(notWritten)
  } else await enterPosition(journal, 'undo').catch(notWritten)
  const { problems, previousRestored } = isUndoGivenUp(journal)
    ? {
        problems: [
          `the agent ended ${crashesMax} times while it undid the release, and left it so: see the containers`,
        ],
        previousRestored: false,
      }
    : await putBack(context, getPlan(journal))
  progressReporter.outcome({
    successful: false,
    reason: [undoing?.reason ?? refusal.message, ...problems].join('; '),
    instanceId: undoing?.instanceId ?? refusal.instanceId,
    previousRestored,
    cancelled: undoing?.cancelled ?? cancelled,
  })
}

async function reportLastLogLines(context: StepContext, instanceId: string): Promise<void> {
  const id = context.state.containers.get(instanceId) ?? (await findOwn(context, instanceId).catch(() => undefined))
  if (!id) return
  const lines = await readLastLines(context.node.driver, id).catch(() => [])
  if (lines.length > 0) context.progressReporter.containerLog(instanceId, lines)
}

/** Adds the instance to the error of a step of a phase. */
async function withPhase(
  context: StepContext,
  phase: Phase,
  steps: readonly Step[],
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    const refusal = toPlanError(
      error,
      steps.length === 1 && steps[0] && 'instanceId' in steps[0] ? steps[0].instanceId : '',
    )
    if (refusal.instanceId !== '' && !(error instanceof AbortedError))
      context.progressReporter.failed(refusal.instanceId, phase, refusal.message)
    throw error instanceof AbortedError ? error : refusal
  }
}

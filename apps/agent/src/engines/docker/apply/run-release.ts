import { setMaxListeners } from 'node:events'
import type { Release } from '@crux/agent-protocol'
import { AbortedError } from '../../../errors/aborted-error.ts'
import { EngineError } from '../../../errors/engine-error.ts'
import { messageOf } from '../../../errors/message-of.ts'
import { PlanError } from '../../../errors/plan-error.ts'
import { crashesMax, enterPosition, isUndoGivenUp, refuseCrashLoop } from '../../../journal/crash-loop.ts'
import type { Journal } from '../../../journal/journal.ts'
import { createProgressReporter, Phase, type ProgressReporter } from '../../../journal/progress-reporter.ts'
import { type OpenedSecrets, openSecrets } from '../../../secrets/environment.ts'
import { isOwnedBy, label } from '../../labels.ts'
import type { Driver } from '../containers/driver.ts'
import { claimedPorts } from '../containers/gated-ports.ts'
import { networkName } from '../containers/names.ts'
import { checkRelease } from '../plan/check-release.ts'
import { portTaken } from '../plan/clashes.ts'
import { sharedPort } from '../plan/conflicts.ts'
import { type DesiredInstance, desiredOf } from '../plan/container-spec.ts'
import type { Observation, ResolvedInstance } from '../plan/observation.ts'
import { planRelease } from '../plan/plan.ts'
import { imagesOf } from '../plan/preparations.ts'
import type { Plan, Step } from '../plan/steps.ts'
import { checkSources } from './check-sources.ts'
import { succeedAndCleanUp } from './clean-up.ts'
import { execute, findOwn, inOrder } from './executors.ts'
import { putBack } from './put-back.ts'
import type { ReleaseContext } from './release-context.ts'
import { allOrFirstError, resolveAndPull } from './resolve.ts'
import { retryWhileUnavailable } from './retry-while-unavailable.ts'
import { ensureOwnNetwork, type Run } from './run.ts'
import { memoryOf } from './run-of-journal.ts'
import { inStages } from './stages.ts'
import { startAndVerify, toPlanError } from './start-and-verify.ts'
import { verifyRoutes } from './verify-routes.ts'

const lastLines = 100

/**
 * Applies one release from the point that its journal has reached, and ends it with an outcome: everything as ordered, or everything as it
 * was before. After a success it removes what was replaced.
 *
 * All images are pulled before anything starts, so a failed pull changes nothing. The previous containers go after every new one is
 * verified.
 *
 * @param signal aborts with an AbortedError
 */
export async function runRelease(journal: Journal, context: ReleaseContext, signal: AbortSignal): Promise<void> {
  setMaxListeners(0, signal)
  const progressReporter = createProgressReporter(journal)
  const { committed, undoing } = journal.state
  if ((committed && !undoing) || (await takeOver(journal, context, progressReporter, signal))) {
    context.tookOver()
    await succeedAndCleanUp(journal, context, progressReporter)
  }
}

/** @returns whether the new containers have taken over; otherwise everything is restored and the failure is reported */
async function takeOver(
  journal: Journal,
  context: ReleaseContext,
  progressReporter: ProgressReporter,
  signal: AbortSignal,
): Promise<boolean> {
  const { release } = journal
  let run: Run | undefined
  let unclaim: (() => void) | undefined
  let unclaimNetworks: (() => void) | undefined
  try {
    if (journal.state.undoing) throw new PlanError(journal.state.undoing.instanceId, journal.state.undoing.reason)
    signal.throwIfAborted()
    refuseCrashLoop(journal)
    await enterPosition(journal, 'resolve')
    checkRelease(release)
    const desired = release.instances.map((instance) => desiredOf(release, instance, context.nodeEnvironment))
    await checkSources(context.sources, desired)
    const secrets = await openSecrets(context.decrypt, desired)
    progressReporter.hide([...secrets.values()].flatMap((values) => Object.values(values)))
    unclaim = await context.images.claims.claim(wantedImages(release, desired))
    unclaimNetworks = context.teamNetworks.claim(desired.flatMap(({ networks }) => networks.map(({ name }) => name)))
    const early = prefetch(journal, context, desired)
    const resolved = await resolveAndPull({
      sources: { driver: context.driver, ...context.images },
      release,
      desired,
      known: journal.state.digests ?? {},
      progressReporter,
      signal,
      onResolved: (digests) => Object.assign(journal.state, { digests }),
    })
    signal.throwIfAborted()
    await enterPosition(journal, 'plan')
    run = await prepareRun(journal, context, { resolved, secrets, early }, progressReporter, signal)
    await applyPlan(journal, context, run)
    return true
  } catch (error) {
    if (error instanceof AbortedError && error.kind === 'shutdown') throw error
    await fail(journal, context, progressReporter, run, error)
    return false
  } finally {
    unclaim?.()
    unclaimNetworks?.()
  }
}

/** Names of all images that the release resolves, and ids of those that it needs from the engine's own store. */
function wantedImages({ instances }: Release, desired: readonly DesiredInstance[]): string[] {
  return [
    ...desired.flatMap(({ image, preparations }) => [image, ...imagesOf(preparations)].map(({ name }) => name)),
    ...instances.flatMap(({ imageDigest, preparationDigests }) => [imageDigest, ...Object.values(preparationDigests)]),
  ]
}

/** Work that takes time and changes nothing visible runs while the registries answer. */
interface Prefetched {
  observation: Promise<Observation | undefined>
  network: Promise<string | undefined>
}

function prefetch(
  { release, state }: Journal,
  context: ReleaseContext,
  desired: readonly DesiredInstance[],
): Prefetched {
  const nothing = Promise.resolve(undefined)
  const { owner } = release
  if (state.plan || !owner) return { observation: nothing, network: nothing }
  const name = networkName(owner)
  const network = desired.some(({ base }) => base.networkMode === name)
    ? ensureOwnNetwork(context.driver, release, name, false).then(
        () => name,
        () => undefined,
      )
    : nothing
  return { observation: observeNode(context.driver, release).catch(() => undefined), network }
}

async function prepareRun(
  journal: Journal,
  context: ReleaseContext,
  { resolved, secrets, early }: { resolved: ResolvedInstance[]; secrets: OpenedSecrets; early: Prefetched },
  progressReporter: ProgressReporter,
  signal: AbortSignal,
): Promise<Run> {
  const { release } = journal
  const resumed = journal.state.plan !== undefined
  // A pull takes time, so an observation from before it is outdated.
  const observation = resolved.every(({ wasPulled }) => !wasPulled) ? await early.observation : undefined
  const plan =
    (journal.state.plan as Plan | undefined) ??
    (await retryWhileUnavailable(() => planNow(journal, context, resolved, observation), signal))
  const ensured = await early.network
  const run: Run = {
    driver: context.driver,
    gate: context.gate,
    teamNetworks: context.teamNetworks,
    release,
    plan,
    resolved: new Map(resolved.map((instance) => [instance.instanceId, instance])),
    progressReporter,
    data: context.data,
    sources: context.sources,
    secrets,
    signal,
    resumed,
    ensured: new Set(ensured === undefined ? [] : [ensured]),
    ids: new Map(),
    watched: new Map(),
    overwritten: [],
    ...memoryOf(journal),
    createLock: context.createLock,
  }
  if (resumed) {
    for (const { instanceId, mode } of plan.instances) {
      const own = mode === 'keep' ? undefined : await retryWhileUnavailable(() => findOwn(run, instanceId), signal)
      if (own) run.ids.set(instanceId, own)
    }
  }
  return run
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
  { release, state, decide }: Journal,
  context: ReleaseContext,
  resolved: ResolvedInstance[],
  seen: Observation | undefined,
): Promise<Plan> {
  const { engine } = context.driver
  const observation = seen ?? (await observeNode(context.driver, release))
  const { all } = observation
  const plan = planRelease(release, resolved, observation)
  const gated = resolved.find(({ base }) => base.gated.length > 0)
  if (gated && context.gate.unusable) throw new PlanError(gated.instanceId, context.gate.unusable)
  const atGate = ((await context.gate.look())?.ports ?? []).map(({ port, address }) => ({
    hostPort: port,
    protocol: 'tcp' as const,
    address,
  }))
  const held = [...all.filter(({ running }) => running).flatMap(claimedPorts), ...atGate]
  for (const instance of resolved) {
    if (plan.instances.find(({ instanceId }) => instanceId === instance.instanceId)?.mode === 'keep') continue
    for (const port of claimedPorts(instance.base)) {
      if (sharedPort([port], held)) continue
      if (await engine.portTakenByProcess(port))
        throw new PlanError(instance.instanceId, portTaken(port.hostPort, 'another process of the machine'))
    }
  }
  await decide({ ...(state.digests ? { digests: state.digests } : {}), plan })
  return plan
}

/** Runs everything up to the point of no return. */
async function applyPlan(journal: Journal, context: ReleaseContext, run: Run): Promise<void> {
  const { plan, progressReporter, signal } = run
  for (const { instanceId, mode } of plan.instances) {
    if (mode === 'keep') {
      for (const phase of [Phase.CREATE, Phase.START, Phase.VERIFY, Phase.SWAP])
        progressReporter.skipped(instanceId, phase, 'unchanged')
      if (run.resolved.get(instanceId)?.preparations.some(({ kind }) => kind === 'import'))
        progressReporter.info(instanceId, 'it did not change, so nothing was imported: replace it too to import again')
    }
  }
  await enterPosition(journal, 'create')
  await inOrder(plan.prepare, run)
  await withPhase(run, Phase.CREATE, plan.create, () => allOrFirstError(plan.create.map((step) => execute(step, run))))
  await verifyRoutes(run)
  if (plan.start.some(({ steps }) => steps.some(({ kind }) => kind === 'previous.stop'))) {
    await context.clock.mayProceed(signal)
    // The service has downtime from here on: the journal must survive any failure, so that the service is restored.
    await journal.secure()
  }
  await enterPosition(journal, 'start')
  const ahead = ensureNetworksAhead(run)
  await startAndVerify(run).finally(() => ahead)
  await context.clock.mayProceed(signal)
  signal.throwIfAborted()
  await enterPosition(journal, 'swap')
  for (const { instanceId, mode } of plan.instances)
    if (mode !== 'keep') progressReporter.running(instanceId, Phase.SWAP)
  // Joining networks takes nothing from the previous containers, so the last check of the new ones runs in parallel.
  const firstTaken = plan.swap.findIndex(({ kind }) => !kind.startsWith('network.'))
  const joins = firstTaken < 0 ? plan.swap : plan.swap.slice(0, firstTaken)
  await allOrFirstError([...plan.finalize.map((step) => execute(step, run)), inStages(joins, run)])
  await inStages(plan.swap.slice(joins.length), run)
  for (const { instanceId, mode } of plan.instances) {
    if (mode === 'first') progressReporter.skipped(instanceId, Phase.SWAP, 'there was nothing to replace')
    else if (mode !== 'keep') progressReporter.done(instanceId, Phase.SWAP)
  }
  await journal.decide({ committed: true })
  if (plan.cleanUp.length > 0) await journal.secure()
}

/** Creates networks that only the handover needs while the new containers are being observed. A failure here fails the handover itself. */
async function ensureNetworksAhead(run: Run): Promise<void> {
  const ensures = run.plan.swap.filter(({ kind }) => kind === 'network.ensure')
  await Promise.allSettled(ensures.map((step) => execute(step, run)))
}

/** Reports the reason, stores the last log lines of what failed, restores everything, and reports whether that succeeded. */
async function fail(
  journal: Journal,
  context: ReleaseContext,
  progressReporter: ProgressReporter,
  run: Run | undefined,
  error: unknown,
): Promise<void> {
  const cancelled = error instanceof AbortedError && error.kind === 'cancelled'
  const refusal = toPlanError(error, '')
  const undoing = journal.state.undoing
  const notWritten = (cause: unknown) => context.log.warn({ reason: messageOf(cause) }, 'a decision is not written yet')
  if (!undoing) {
    if (!(error instanceof PlanError || error instanceof AbortedError || error instanceof EngineError))
      context.log.error({ err: error }, 'a deployment failed unexpectedly')
    if (cancelled) progressReporter.warn('', 'cancelled: everything is put back')
    else progressReporter.error(refusal.instanceId, refusal.message)
    if (run && refusal.instanceId !== '') await reportLastLogLines(run, refusal.instanceId)
    for (const { instanceId, volume } of run?.overwritten ?? [])
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
    : await putBack(journal, context, progressReporter, run?.plan ?? (journal.state.plan as Plan | undefined))
  progressReporter.outcome({
    successful: false,
    reason: [undoing?.reason ?? refusal.message, ...problems].join('; '),
    instanceId: undoing?.instanceId ?? refusal.instanceId,
    previousRestored,
    cancelled: undoing?.cancelled ?? cancelled,
    containerNames: [],
  })
}

async function reportLastLogLines(run: Run, instanceId: string): Promise<void> {
  const id = run.ids.get(instanceId) ?? (await findOwn(run, instanceId).catch(() => undefined))
  if (!id) return
  const lines: string[] = []
  try {
    for await (const chunk of run.driver.readLog(id, { take: lastLines, follow: false }))
      lines.push(...chunk.map(({ text }) => text))
  } catch {
    return
  }
  if (lines.length > 0) run.progressReporter.containerLog(instanceId, lines.slice(-lastLines))
}

/** Adds the instance to the error of a step of a phase. */
async function withPhase(run: Run, phase: Phase, steps: readonly Step[], work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    const refusal = toPlanError(
      error,
      steps.length === 1 && steps[0] && 'instanceId' in steps[0] ? steps[0].instanceId : '',
    )
    if (refusal.instanceId !== '' && !(error instanceof AbortedError))
      run.progressReporter.failed(refusal.instanceId, phase, refusal.message)
    throw error instanceof AbortedError ? error : refusal
  }
}

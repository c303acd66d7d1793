import { CruxError } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import { configChanged, invalidateSecrets } from '../container-configurations/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { begin, finishStart, inStart, type Started, triggeredBy } from './begin.ts'
import { hashSubjects, readSubjects, type Subjects } from './confirmations.ts'
import { type LoadedDeployment, type LoadedInstance, loadDeployment } from './deployment-store.ts'
import { notifyDispatcher } from './dispatch.ts'
import { appendEvents, logEvent } from './event-store.ts'
import { type DeploymentUpdate, deploymentsChanged } from './events.ts'
import { toReleaseImage } from './image-reference.ts'
import { refuseUnsuccessful, toPlanned } from './list.ts'
import { cancelledBy, failRelease } from './outcome-store.ts'
import { hasStaleValues } from './stale-secrets.ts'
import { checkStatus, chooseInstances, startProblems } from './start-checks.ts'
import type { Starter, StartRequest } from './start-request.ts'
import {
  findRelease,
  lockRelease,
  type NewReleaseInstance,
  type ReleaseRow,
  releaseInstances,
  requestCancel,
} from './store.ts'

export type StartOptions = {
  instances?: string[] | undefined
  recreate?: boolean | undefined
  /** The hash of the preview that the user confirmed. */
  expectedHash?: string | undefined
  ignoreProtected: boolean
  /** Why an admin starts it during a freeze window. */
  overrideFreeze?: string | null | undefined
}

/**
 * Starts a release: runs all checks in their order, then writes the immutable release, the new status and the first
 * events in one transaction. Of two concurrent starts the second one sees the first and is refused. The agent receives
 * the release after the commit. If the process dies in between nothing is lost: the process that has the link
 * dispatches it.
 *
 * @returns the number of the release, the host-dangerous instances that the start confirmed, and the freeze that it
 *   overrode
 * @throws CruxError alreadyExists `id`, preconditionFailed, invalidArgument, keysAreUnique, containerNameAreUnique,
 *   forbidden
 */
export async function startDeployment(
  app: App,
  caller: Caller,
  deploymentId: string,
  options: StartOptions,
): Promise<Pick<Started, 'number' | 'confirmed' | 'override'>> {
  const started = await inStart(app, async (queries, mayDispatch) => {
    const deployment = await loadDeployment(queries, caller.team.id, deploymentId, { lock: true })
    throwIfAny([checkStatus(deployment, 'deploy')])
    const chosen = chooseInstances(deployment, options.instances)
    const subjects = await readSubjects(queries, deployment, chosen)
    throwIfAny([checkUnchanged(subjects, options.expectedHash)])
    const [refused] = await startProblems(queries, deployment, chosen, toStartRequest(app, caller, options))
    if (refused) {
      const invalidated = hasStaleValues(deployment)
        ? await invalidateSecrets(queries, { nodeId: deployment.node.id, deploymentId })
        : []
      return { refused, voided: invalidated }
    }
    return begin(app, queries, caller, deployment, chosen.map(toReleaseInstance), {
      ...triggeredBy(caller),
      mayDispatch,
      subjects,
      versionName: deployment.version.name,
      recreate: options.recreate ?? false,
      partial: chosen.length < deployment.instances.length,
      sourceNumber: null,
      overrideFreeze: options.overrideFreeze,
    })
  })
  if ('refused' in started) {
    for (const layer of started.voided) configChanged(app, { ...layer, origin: undefined, configBundleId: undefined })
    throw started.refused
  }
  finishStart(app, started)
  return { number: started.number, confirmed: started.confirmed, override: started.override }
}

/**
 * Starts a deployment that the same transaction creates or finds: a refused start leaves nothing of what it created.
 *
 * @param create runs in the transaction; nothing starts where it returns `starts: false`
 * @returns what `create` returned, the host-dangerous instances that the start confirmed, and the freeze that it overrode
 * @throws CruxError as `startDeployment`
 */
export async function createAndStart<Created extends { deploymentId: string; starts: boolean }>(
  app: App,
  caller: Caller,
  create: (queries: Queries) => Promise<Created>,
  options: Omit<StartOptions, 'instances' | 'recreate'> = { ignoreProtected: false },
): Promise<{ created: Created; number: number | undefined } & Pick<Started, 'confirmed' | 'override'>> {
  const { created, started } = await inStart(app, async (queries, mayDispatch) => {
    const created = await create(queries)
    if (!created.starts) return { created }
    const deployment = await loadDeployment(queries, caller.team.id, created.deploymentId, { lock: true })
    const { instances } = deployment
    throwIfAny([checkStatus(deployment, 'deploy')])
    const subjects = await readSubjects(queries, deployment, instances)
    throwIfAny([checkUnchanged(subjects, options.expectedHash)])
    throwIfAny(await startProblems(queries, deployment, instances, toStartRequest(app, caller, options)))
    const started = await begin(app, queries, caller, deployment, instances.map(toReleaseInstance), {
      ...triggeredBy(caller),
      mayDispatch,
      subjects,
      versionName: deployment.version.name,
      recreate: false,
      partial: false,
      sourceNumber: null,
      overrideFreeze: options.overrideFreeze,
    })
    return { created, started }
  })
  if (started) finishStart(app, started)
  return { created, confirmed: started?.confirmed ?? [], override: started?.override, number: started?.number }
}

/** What a start that nobody requested deploys: digests by instance, and the deliveries of hooks that reported them. */
export type AutomaticChoice = { digests: ReadonlyMap<string, string>; reason: string; deliveryIds: string[] }

/**
 * Starts a release that nobody requested, with all checks of a start.
 *
 * @param choose decides under the lock of the deployment, so that of several servers one starts it; undefined starts
 *   nothing. What it writes is stored with the release.
 * @throws CruxError as `startDeployment`
 */
export async function startAutomatically(
  app: App,
  starter: Starter,
  deploymentId: string,
  choose: (queries: Queries, deployment: LoadedDeployment) => Promise<AutomaticChoice | undefined>,
): Promise<number | undefined> {
  const started = await inStart(app, async (queries, mayDispatch) => {
    const deployment = await loadDeployment(queries, starter.team.id, deploymentId, { lock: true })
    const choice = await choose(queries, deployment)
    if (!choice) return undefined
    throwIfAny([checkStatus(deployment, 'deploy')])
    const chosen = chooseInstances(deployment, [...choice.digests.keys()])
    throwIfAny(await startProblems(queries, deployment, chosen, toStartRequest(app, starter)))
    const instances = chosen
      .map(toReleaseInstance)
      .map((instance) => ({ ...instance, digest: choice.digests.get(instance.instanceId) ?? null }))
    return begin(app, queries, starter, deployment, instances, {
      trigger: 'follow',
      triggerReason: choice.reason,
      deliveryIds: choice.deliveryIds,
      mayDispatch,
      subjects: await readSubjects(queries, deployment, chosen),
      versionName: deployment.version.name,
      recreate: false,
      partial: chosen.length < deployment.instances.length,
      sourceNumber: null,
    })
  })
  if (started) finishStart(app, started)
  return started?.number
}

/**
 * Rolls back: starts an earlier release again, with its digests and configurations.
 *
 * @param options.takeBackFields only for the release that runs: puts back what other programs have changed in the cluster
 */
export async function startRelease(
  app: App,
  caller: Caller,
  deploymentId: string,
  number: number,
  options: Pick<StartOptions, 'ignoreProtected' | 'overrideFreeze'> & { takeBackFields?: boolean | undefined },
): Promise<Pick<Started, 'confirmed' | 'override'>> {
  const { takeBackFields = false } = options
  const started = await inStart(app, async (queries, mayDispatch) => {
    const deployment = await loadDeployment(queries, caller.team.id, deploymentId, { lock: true })
    throwIfAny([checkStatus(deployment, 'roll-back')])
    const source = await findRelease(queries, deploymentId, number)
    if (!source) throw new CruxError('notFound', { property: 'number', value: number })
    throwIfAny([refuseUnsuccessful(source), takeBackFields ? refuseTakeBack(deployment, source) : undefined])
    const instances = (await releaseInstances(queries, source.id)).map((row, order) => ({ ...row, order }))
    const planned = instances.map(toPlanned)
    throwIfAny(
      await startProblems(queries, deployment, planned, { ...toStartRequest(app, caller, options), from: 'release' }),
    )
    return begin(app, queries, caller, deployment, instances, {
      ...triggeredBy(caller),
      mayDispatch,
      subjects: await readSubjects(queries, deployment, planned),
      versionName: source.versionName,
      recreate: false,
      partial: source.partial,
      sourceNumber: number,
      takeBackFields,
      overrideFreeze: options.overrideFreeze,
    })
  })
  finishStart(app, started)
  return { confirmed: started.confirmed, override: started.override }
}

/**
 * Ends a waiting release at once, and asks the agent to undo a release that it has started. If the agent is unavailable
 * the release ends with its lease: until then the agent may still complete it, and an end that is reported now could be
 * wrong.
 */
export async function cancelDeployment(app: App, caller: Caller, deploymentId: string): Promise<void> {
  const { actor, team } = caller
  const cancelled = await inTransaction(app.database, async (queries) => {
    const deployment = await loadDeployment(queries, team.id, deploymentId, { lock: true })
    const release = await lockRelease(queries, { deploymentId, number: deployment.attempts })
    if (deployment.status !== 'in-progress' || release?.status !== 'in-progress')
      throw new CruxError('preconditionFailed', { property: 'status', description: 'Nothing is in progress.' })
    const { node } = deployment
    if (!release.dispatchedAt)
      return { node, update: await failRelease(app, queries, release, cancelledBy(actor.name)) }
    if (release.cancelRequestedBy) return { node, update: [] }
    await requestCancel(queries, release.id, actor.name)
    const position = await appendEvents(queries, deploymentId, release.number, [
      logEvent(
        node.status === 'connected'
          ? `Cancelled by ${actor.name}: the agent puts everything back`
          : `Cancelled by ${actor.name}: the agent of ${node.name} is away and hears of it when it is back; this ends after 60 s without it`,
        'warn',
      ),
    ])
    const update: DeploymentUpdate[] = [{ deploymentId, teamId: team.id, try: release.number, position }]
    return { node, update }
  })
  deploymentsChanged(app, cancelled.update)
  notifyDispatcher(app, cancelled.node.id)
}

const toStartRequest = (
  app: App,
  starter: Starter,
  { ignoreProtected, overrideFreeze }: Pick<StartOptions, 'ignoreProtected' | 'overrideFreeze'> = {
    ignoreProtected: false,
  },
): StartRequest => ({
  ...starter,
  ignoreProtected,
  overrideFreeze,
  from: 'layers',
  cruxUrl: app.config.url,
})

const toReleaseInstance = ({ id, image, config }: LoadedInstance, order: number): NewReleaseInstance => ({
  instanceId: id,
  order,
  registryId: image.registryId,
  containerName: config.name,
  imageName: image.reference,
  localOnly: image.localOnly,
  ...toReleaseImage(image),
  preparationDigests: {},
  config,
})

/** An admin confirms what they saw, and nothing that another user stored in between. */
function checkUnchanged(subjects: Subjects, expectedHash: string | undefined): CruxError | undefined {
  if (expectedHash === undefined || hashSubjects(subjects) === expectedHash) return undefined
  return new CruxError('preconditionFailed', {
    property: 'expectedHash',
    description: 'The configuration has changed since your preview: review the changes, then deploy again.',
  })
}

/** What was changed in the cluster was compared with the release that runs, and with no other. */
function refuseTakeBack(deployment: LoadedDeployment, source: ReleaseRow): CruxError | undefined {
  const refuse = (property: string, description: string) =>
    new CruxError('preconditionFailed', { property, description })
  if (deployment.node.type !== 'k8s')
    return refuse('node', 'Only what was changed in a cluster is put back: deploy again instead.')
  if (!source.current || source.prefix !== deployment.prefix)
    return refuse('number', `Release ${source.number} does not run any more: look again at what differs.`)
  return undefined
}

function throwIfAny(problems: readonly (CruxError | undefined)[]) {
  const first = problems.find((problem) => problem !== undefined)
  if (first) throw first
}

import { CruxError, isAllowed } from '@crux/contract'
import { hostDangers } from '@crux/rules'
import { inBackground } from '@crux/service-kit'
import type { Caller } from '../access/index.ts'
import { configChanged, invalidateSecrets } from '../container-configurations/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { buildRelease } from './build-release.ts'
import {
  type DangerousInstance,
  hashSubjects,
  judgeDangers,
  readSubjects,
  type Subjects,
  storeConfirmations,
} from './confirmations.ts'
import { type LoadedDeployment, type LoadedInstance, loadDeployment } from './deployment-store.ts'
import { type BuiltRelease, deliver, isSecondDispatched, leaseUntilFrom, notifyDispatcher } from './dispatch.ts'
import { appendEvents, logEvent, statusEvent } from './event-store.ts'
import { type DeploymentUpdate, deploymentsChanged } from './events.ts'
import { toReleaseImage } from './image-reference.ts'
import { refuseUnsuccessful, toPlanned } from './list.ts'
import { cancelledBy, failRelease } from './outcome-store.ts'
import { hasStaleValues } from './stale-secrets.ts'
import { checkStatus, chooseInstances, startProblems } from './start-checks.ts'
import type { Starter, StartRequest } from './start-request.ts'
import {
  findRelease,
  findReleaseAhead,
  insertRelease,
  lockRelease,
  markStarted,
  type NewRelease,
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
}

/**
 * Starts a release: runs all checks in their order, then writes the immutable release, the new status and the first
 * events in one transaction. Of two concurrent starts the second one sees the first and is refused. The agent receives
 * the release after the commit. If the process dies in between nothing is lost: the process that has the link
 * dispatches it.
 *
 * @returns the number of the release, and the host-dangerous instances that the start confirmed
 * @throws CruxError alreadyExists `id`, preconditionFailed, invalidArgument, keysAreUnique, containerNameAreUnique,
 *   forbidden
 */
export async function startDeployment(
  app: App,
  caller: Caller,
  deploymentId: string,
  options: StartOptions,
): Promise<Pick<Started, 'number' | 'confirmed'>> {
  const started = await inStart(app, async (queries, mayDispatch) => {
    const deployment = await loadDeployment(queries, caller.team.id, deploymentId, { lock: true })
    throwIfAny([checkStatus(deployment, 'deploy')])
    const chosen = chooseInstances(deployment, options.instances)
    const subjects = await readSubjects(queries, deployment, chosen)
    throwIfAny([checkUnchanged(subjects, options.expectedHash)])
    const [refused] = await startProblems(queries, deployment, chosen, {
      ...caller,
      ignoreProtected: options.ignoreProtected,
      from: 'layers',
      cruxUrl: app.config.url,
    })
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
    })
  })
  if ('refused' in started) {
    for (const layer of started.voided) configChanged(app, { ...layer, origin: undefined, configBundleId: undefined })
    throw started.refused
  }
  finishStart(app, started)
  return { number: started.number, confirmed: started.confirmed }
}

/**
 * Starts a deployment that the same transaction creates: a refused start leaves nothing of it.
 *
 * @param create runs in the transaction; nothing starts where it returns an earlier deployment (`isNew: false`)
 * @returns what `create` returned, and the host-dangerous instances that the start confirmed
 * @throws CruxError as `startDeployment`
 */
export async function createAndStart<Created extends { deploymentId: string; isNew: boolean }>(
  app: App,
  caller: Caller,
  create: (queries: Queries) => Promise<Created>,
): Promise<{ created: Created; confirmed: ConfirmedInstance[] }> {
  const { created, started } = await inStart(app, async (queries, mayDispatch) => {
    const created = await create(queries)
    if (!created.isNew) return { created }
    const deployment = await loadDeployment(queries, caller.team.id, created.deploymentId, { lock: true })
    const { instances } = deployment
    throwIfAny(await startProblems(queries, deployment, instances, toStartRequest(app, caller)))
    const started = await begin(app, queries, caller, deployment, instances.map(toReleaseInstance), {
      ...triggeredBy(caller),
      mayDispatch,
      subjects: await readSubjects(queries, deployment, instances),
      versionName: deployment.version.name,
      recreate: false,
      partial: false,
      sourceNumber: null,
    })
    return { created, started }
  })
  if (started) finishStart(app, started)
  return { created, confirmed: started?.confirmed ?? [] }
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

/** Rolls back: starts an earlier release again, with its digests and configurations. */
export async function startRelease(
  app: App,
  caller: Caller,
  deploymentId: string,
  number: number,
  options: { ignoreProtected: boolean },
): Promise<Pick<Started, 'confirmed'>> {
  const started = await inStart(app, async (queries, mayDispatch) => {
    const deployment = await loadDeployment(queries, caller.team.id, deploymentId, { lock: true })
    throwIfAny([checkStatus(deployment, 'roll-back')])
    const source = await findRelease(queries, deploymentId, number)
    if (!source) throw new CruxError('notFound', { property: 'number', value: number })
    throwIfAny([refuseUnsuccessful(source)])
    const instances = (await releaseInstances(queries, source.id)).map((row, order) => ({ ...row, order }))
    const planned = instances.map(toPlanned)
    throwIfAny(
      await startProblems(queries, deployment, planned, {
        ...caller,
        ignoreProtected: options.ignoreProtected,
        from: 'release',
        cruxUrl: app.config.url,
      }),
    )
    return begin(app, queries, caller, deployment, instances, {
      ...triggeredBy(caller),
      mayDispatch,
      subjects: await readSubjects(queries, deployment, planned),
      versionName: source.versionName,
      recreate: false,
      partial: source.partial,
      sourceNumber: number,
    })
  })
  finishStart(app, started)
  return { confirmed: started.confirmed }
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
    if (!release.dispatchedAt) return { node, update: await failRelease(queries, release, cancelledBy(actor.name)) }
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

type Started = {
  nodeId: string
  number: number
  update: DeploymentUpdate
  confirmed: ConfirmedInstance[]
  /** What the agent gets right after the commit; undefined for a release that waits in the node's queue. */
  dispatched: { release: ReleaseRow; built: BuiltRelease } | undefined
}
/** What an admin's start confirmed, for the audit log. */
export type ConfirmedInstance = { containerName: string; dangers: string[] }
type Order = Trigger & {
  mayDispatch: boolean
  subjects: Subjects
  versionName: string
  recreate: boolean
  partial: boolean
  sourceNumber: number | null
}

/**
 * Runs the transaction of a start. Of two starts at one deployment target at the same moment, both may find none before
 * them; then the later one runs again, and its release waits in the queue.
 */
async function inStart<T>(app: App, start: (queries: Queries, mayDispatch: boolean) => Promise<T>): Promise<T> {
  try {
    return await inTransaction(app.database, (queries) => start(queries, true))
  } catch (error) {
    if (!isSecondDispatched(error)) throw error
    return inTransaction(app.database, (queries) => start(queries, false))
  }
}

async function begin(
  app: App,
  queries: Queries,
  { team, actor }: Starter,
  deployment: LoadedDeployment,
  instances: readonly NewReleaseInstance[],
  { mayDispatch, subjects, ...order }: Order,
): Promise<Started> {
  const planned = instances.map(toPlanned)
  const isAdmin = actor.sessionId !== undefined && isAllowed(team.role, 'container-configurations.host-dangerous')
  const [judged, ahead] = await Promise.all([
    isAdmin ? judgeDangers(queries, deployment, planned, subjects) : [],
    findReleaseAhead(queries, deployment),
  ])
  const confirmed = judged.filter(({ isConfirmed }) => !isConfirmed).map(toConfirmed)
  // The deployment's row is locked, so no other start takes this number.
  const number = deployment.attempts + 1
  const source = order.sourceNumber === null ? '' : `, back to release ${order.sourceNumber}`
  const now = new Date()
  // A release that has its turn is stored as dispatched and built in the same round trip, so that the agent gets it right
  // after the commit.
  const isNext = mayDispatch && !ahead && app.links.status(deployment.node.id) === 'connected'
  const release: NewRelease = {
    ...order,
    deploymentId: deployment.id,
    number,
    teamId: team.id,
    projectId: deployment.projectId,
    nodeId: deployment.node.id,
    prefix: deployment.prefix,
    projectName: deployment.project.name,
    // The checks refuse every host-dangerous configuration of a user, and of a token all that is not confirmed.
    hostDangerousAllowed: isAdmin || planned.some(({ config }) => hostDangers(config).length > 0),
    startedById: actor.id,
    startedByName: actor.name,
    overrideFreeze: null,
    leaseUntil: leaseUntilFrom(now),
    dispatchedAt: isNext ? now : null,
  }
  const [, , inserted, position, [built]] = await Promise.all([
    isAdmin && storeConfirmations(queries, deployment.id, planned, judged, actor),
    markStarted(queries, deployment.id, number, actor.id),
    insertRelease(queries, release, instances),
    appendEvents(queries, deployment.id, number, [
      statusEvent('in-progress'),
      logEvent(
        order.triggerReason
          ? `Started by following a tag, which ${actor.name} switched on: ${order.triggerReason}`
          : `Started by ${actor.name}${source}`,
      ),
      ...confirmed.map((one) =>
        logEvent(
          `${actor.name} confirmed what reaches the node in ${one.containerName}: ${one.dangers.join(', ')}`,
          'warn',
        ),
      ),
      ...(ahead ? [logEvent(`Waiting behind release ${ahead.number} of ${ahead.title}`)] : []),
    ]),
    isNext ? Promise.allSettled([buildRelease(app, queries, release, instances)]) : [],
  ])
  // A failed statement has ended the transaction, while a release that cannot be built is stored and ends with its reason.
  if (built?.status === 'rejected' && !(built.reason instanceof CruxError)) throw built.reason
  const update: DeploymentUpdate = {
    deploymentId: deployment.id,
    teamId: team.id,
    status: 'in-progress',
    try: number,
    position,
  }
  const dispatched = built && { release: { ...inserted, dispatchedAt: null }, built }
  return { nodeId: deployment.node.id, number, update, confirmed, dispatched }
}

/** For starts that nobody was asked about. */
const toStartRequest = (app: App, starter: Starter): StartRequest => ({
  ...starter,
  ignoreProtected: false,
  from: 'layers',
  cruxUrl: app.config.url,
})

type Trigger = Pick<NewRelease, 'trigger' | 'triggerReason' | 'deliveryIds'>
const triggeredBy = ({ actor }: Starter): Trigger => ({
  trigger: actor.grant ? 'token' : 'user',
  triggerReason: null,
  deliveryIds: [],
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

const toConfirmed = ({ containerName, dangers }: DangerousInstance): ConfirmedInstance => ({
  containerName,
  dangers: dangers.map(({ property, value }) => `${property} ${value}`.trim()),
})

function finishStart(app: App, { dispatched, nodeId, update }: Started) {
  // The agent comes first: everything else can wait some milliseconds.
  if (dispatched) inBackground('dispatching a release', () => deliver(app, dispatched.release, dispatched.built))
  else notifyDispatcher(app, nodeId)
  deploymentsChanged(app, [update])
}

function throwIfAny(problems: readonly (CruxError | undefined)[]) {
  const first = problems.find((problem) => problem !== undefined)
  if (first) throw first
}

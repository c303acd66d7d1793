import { CruxError, isAllowed } from '@crux/contract'
import { nodeDangers } from '@crux/rules'
import { inBackground } from '@crux/service-kit'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { buildRelease } from './build-release.ts'
import { type DangerousInstance, judgeDangers, type Subjects, storeConfirmations } from './confirmations.ts'
import type { LoadedDeployment } from './deployment-store.ts'
import { type BuiltRelease, deliver, isSecondDispatched, leaseUntilFrom, notifyDispatcher } from './dispatch.ts'
import { appendEvents, logEvent, statusEvent } from './event-store.ts'
import { type DeploymentUpdate, deploymentsChanged } from './events.ts'
import { findOverride, type Override, overrideText } from './freezes.ts'
import { toPlanned } from './list.ts'
import type { Starter } from './start-request.ts'
import {
  findReleaseAhead,
  insertRelease,
  markStarted,
  type NewRelease,
  type NewReleaseInstance,
  type ReleaseRow,
} from './store.ts'

export type Started = {
  nodeId: string
  number: number
  update: DeploymentUpdate
  confirmed: ConfirmedInstance[]
  /** The freeze that an admin overrode, and why. */
  override: Override | undefined
  /** What the agent gets right after the commit; undefined for a release that waits in the node's queue. */
  dispatched: { release: ReleaseRow; built: BuiltRelease } | undefined
}
/** What an admin's start confirmed, for the audit log. */
export type ConfirmedInstance = { containerName: string; dangers: string[] }
/** What a release is made of, besides its instances. */
export type Order = Trigger & {
  mayDispatch: boolean
  subjects: Subjects
  versionName: string
  recreate: boolean
  partial: boolean
  sourceNumber: number | null
  /** Whether it takes back what other programs have changed in the cluster. */
  takeBackFields?: boolean
  /** The reason of an admin for starting it during a freeze window. */
  overrideFreeze?: string | null | undefined
}

type Trigger = Pick<NewRelease, 'trigger' | 'triggerReason' | 'deliveryIds'>
export const triggeredBy = ({ actor }: Starter): Trigger => ({
  trigger: actor.grant ? 'token' : 'user',
  triggerReason: null,
  deliveryIds: [],
})

/**
 * Runs the transaction of a start. Of two starts at one deployment target at the same moment, both may find none before
 * them; then the later one runs again, and its release waits in the queue.
 */
export async function inStart<T>(app: App, start: (queries: Queries, mayDispatch: boolean) => Promise<T>): Promise<T> {
  try {
    return await inTransaction(app.database, (queries) => start(queries, true))
  } catch (error) {
    if (!isSecondDispatched(error)) throw error
    return inTransaction(app.database, (queries) => start(queries, false))
  }
}

/** Writes the release, the new status and the first events. The caller holds the lock of the deployment and has made all checks. */
export async function begin(
  app: App,
  queries: Queries,
  { team, actor }: Starter,
  deployment: LoadedDeployment,
  instances: readonly NewReleaseInstance[],
  { mayDispatch, subjects, overrideFreeze, takeBackFields = false, ...order }: Order,
): Promise<Started> {
  const planned = instances.map(toPlanned)
  const isAdmin = actor.sessionId !== undefined && isAllowed(team.role, 'container-configurations.host-dangerous')
  const [judged, ahead, override] = await Promise.all([
    isAdmin ? judgeDangers(queries, deployment, planned, subjects) : [],
    findReleaseAhead(queries, deployment),
    findOverride(queries, deployment, overrideFreeze),
  ])
  const confirmed = judged.filter(({ isConfirmed }) => !isConfirmed).map(toConfirmed)
  // The deployment's row is locked, so no other start takes this number.
  const number = deployment.attempts + 1
  const source = order.sourceNumber === null ? '' : `, back to release ${order.sourceNumber}`
  const how = takeBackFields ? ', taking back what was changed in the cluster' : ''
  const now = new Date()
  // A release that has its turn is stored as dispatched and built in the same round trip, so that the agent gets it right
  // after the commit.
  const isNext = mayDispatch && !ahead && app.links.status(deployment.node.id) === 'connected'
  const release: NewRelease = {
    ...order,
    takeBackFields,
    deploymentId: deployment.id,
    number,
    teamId: team.id,
    projectId: deployment.projectId,
    nodeId: deployment.node.id,
    prefix: deployment.prefix,
    projectName: deployment.project.name,
    // The checks refuse every host-dangerous configuration of a user, and of a token all that is not confirmed.
    hostDangerousAllowed: isAdmin || planned.some(({ config }) => nodeDangers(config, deployment.node).length > 0),
    startedById: actor.id,
    startedByName: actor.name,
    overrideFreeze: override?.overrideFreeze ?? null,
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
          : `Started by ${actor.name}${source}${how}`,
      ),
      ...(override ? [logEvent(overrideText(actor.name, override), 'warn')] : []),
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
  return { nodeId: deployment.node.id, number, update, confirmed, override, dispatched }
}

const toConfirmed = ({ containerName, dangers }: DangerousInstance): ConfirmedInstance => ({
  containerName,
  dangers: dangers.map(({ property, value }) => `${property} ${value}`.trim()),
})

/** Call after the commit. */
export function finishStart(app: App, { dispatched, nodeId, update }: Started) {
  // The agent comes first: everything else can wait some milliseconds.
  if (dispatched) inBackground('dispatching a release', () => deliver(app, dispatched.release, dispatched.built))
  else notifyDispatcher(app, nodeId)
  deploymentsChanged(app, [update])
}

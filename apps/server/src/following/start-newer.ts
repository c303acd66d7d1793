import { CruxError, isAllowed } from '@crux/contract'
import { type AbsentUser, findMember, type TeamContext } from '../access/index.ts'
import { recordAudit } from '../audit-log/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { type AutomaticChoice, getFreezeEnd, type LoadedDeployment, startAutomatically } from '../releases/index.ts'
import { dangerProblem, dangerText } from './danger-text.ts'
import { instancesDowngraded } from './downgraded.ts'
import { followingChanged } from './events.ts'
import {
  clearDue,
  type Downgraded,
  downgrade,
  lastStartAgeMs,
  type NewerInstance,
  newerOfDeployment,
  postpone,
  storeProblem,
  storeStarted,
} from './instance-store.ts'

/** A release in progress is looked at again after this time, in case its end is not reported to this server. */
const busyMs = 10_000

/**
 * Starts a release of the instances of a deployment whose tags have new digests, if anything allows it now. It may be
 * called at any time by any server: the decision is made under the lock of the deployment.
 *
 * @returns the milliseconds until it has to be called again; undefined when nothing waits
 */
export async function startNewer(app: App, deploymentId: string): Promise<number | undefined> {
  const { pool } = app.database
  const [first, ...rest] = await newerOfDeployment(pool, deploymentId)
  if (!first) {
    await clearDue(pool, deploymentId)
    return undefined
  }
  const { followedBy: userId, teamId } = first
  const ids = [first, ...rest].filter((one) => one.followedBy === userId).map(({ id }) => id)
  const follower = await findFollower(app, teamId, userId)
  if ('lost' in follower) {
    await instancesDowngraded(app, { id: deploymentId, teamId }, await downgrade(pool, ids, follower.lost))
    return 0
  }
  const attempt = createAttempt(app, userId)
  const audit = (accepted: boolean, data: object) =>
    recordAudit(app, {
      teamId,
      actor: follower.actor,
      context: 'rpc',
      event: 'deployment-start deployments.start',
      accepted,
      data: { params: { deploymentId }, follow: attempt.found.reason, ...data },
    })
  try {
    const number = await startAutomatically(app, follower, deploymentId, attempt.choose)
    await instancesDowngraded(app, { id: deploymentId, teamId }, attempt.found.downgraded)
    if (number === undefined) return attempt.found.waitMs
    followingChanged(app, { deploymentId, number, userId, digests: attempt.found.digests }, 'release started by a tag')
    await audit(true, { release: number, digests: attempt.found.digests })
    // Instances that another user follows with get a release of their own.
    return rest.some((one) => one.followedBy !== userId) ? busyMs : undefined
  } catch (error) {
    if (!(error instanceof CruxError)) throw error
    if (error.status >= 500) return busyMs
    const problem = error.message
    const dueAt = getFreezeEnd(error)
    if (await storeProblem(pool, Object.keys(attempt.found.digests), { problem, dueAt })) {
      followingChanged(app, { deploymentId, userId, problem }, 'release by a tag was refused')
      await audit(false, { refused: { error: error.code, property: error.property, description: problem } })
    }
    return dueAt && Math.max(0, dueAt.getTime() - Date.now())
  }
}

type Follower = { team: TeamContext; actor: AbsentUser }

/** The user who switched it on, with the rights of a role `user` at most; or why they have no rights any more. */
async function findFollower(app: App, teamId: string, userId: string): Promise<Follower | { lost: string }> {
  const person = await app.identity.active(userId)
  if (!person) return { lost: 'The account of the user who switched this on no longer exists, or is disabled.' }
  const team = await findMember(app.database.pool, userId, teamId)
  if (!team || !isAllowed(team.role, 'deployments.start'))
    return { lost: `${person.name}, who switched this on, is no longer a member of the team: switch it on yourself.` }
  const actor = { kind: 'user' as const, id: person.id, name: person.name, email: person.email }
  return { team: { ...team, role: 'user' as const }, actor }
}

/** One decision, and what it found. */
function createAttempt(app: App, userId: string) {
  const found: {
    reason: string
    digests: Record<string, string>
    downgraded: Downgraded[]
    waitMs: number | undefined
  } = { reason: '', digests: {}, downgraded: [], waitMs: undefined }

  async function choose(queries: Queries, deployment: LoadedDeployment): Promise<AutomaticChoice | undefined> {
    const newer = (await newerOfDeployment(queries, deployment.id)).filter((one) => one.followedBy === userId)
    // The transaction may run a second time.
    Object.assign(found, { reason: '', digests: {}, downgraded: [], waitMs: undefined })
    if (newer.length === 0) return undefined
    found.waitMs = await getWaitMs(app, queries, deployment)
    if (found.waitMs !== undefined) {
      await postpone(
        queries,
        newer.map(({ id }) => id),
        found.waitMs,
      )
      return undefined
    }
    const allowed = await withoutDangerous(queries, deployment, newer, found.downgraded)
    if (allowed.length === 0) return undefined
    const digests = new Map(allowed.map(({ id, digest }) => [id, digest]))
    found.digests = Object.fromEntries(digests)
    found.reason = describe(deployment, digests)
    await storeStarted(queries, digests)
    const deliveryIds = [...new Set(allowed.flatMap((one) => one.deliveryIds))]
    return { digests, reason: found.reason, deliveryIds }
  }
  return { found, choose }
}

/** Further digests during a release, or shortly after its start, lead to one release with the newest of them. */
async function getWaitMs(app: App, queries: Queries, { id, status }: LoadedDeployment): Promise<number | undefined> {
  if (status === 'in-progress') return busyMs
  const ageMs = await lastStartAgeMs(queries, id)
  const { followQuietMs } = app.config
  return ageMs !== undefined && ageMs < followQuietMs ? Math.ceil(followQuietMs - ageMs) : undefined
}

async function withoutDangerous(
  queries: Queries,
  deployment: LoadedDeployment,
  newer: readonly NewerInstance[],
  downgraded: Downgraded[],
): Promise<NewerInstance[]> {
  const allowed: NewerInstance[] = []
  for (const one of newer) {
    const config = deployment.instances.find(({ id }) => id === one.id)?.config
    const danger = config && dangerText(config, deployment.node)
    if (danger) downgraded.push(...(await downgrade(queries, [one.id], dangerProblem(danger))))
    else allowed.push(one)
  }
  return allowed
}

/** "new digest of registry.example.com/app:1.0", the same tag once. */
function describe({ instances }: LoadedDeployment, digests: ReadonlyMap<string, string>): string {
  const images = instances.filter(({ id }) => digests.has(id)).map(({ image }) => `${image.reference}:${image.tag}`)
  const names = [...new Set(images)]
  return `new ${names.length === 1 ? 'digest' : 'digests'} of ${names.join(', ')}`
}

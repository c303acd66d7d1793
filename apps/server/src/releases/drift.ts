import { type ObjectDifference, ObjectDifferenceType } from '@crux/agent-protocol'
import { CruxError, type ResponseInput } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import { unusableAnswer } from '../agent-links/index.ts'
import type { App } from '../context.ts'
import { engineScope, findNodeCluster } from '../nodes/index.ts'
import { buildRelease } from './build-release.ts'
import { findAttempts, findReleaseAhead, findRunningRelease, type ReleaseRow, releaseInstances } from './store.ts'

type Drift = ResponseInput<'deployments.drift'>

/** The API of a cluster is asked several times per object. A page waits for 30 s. */
const answerTimeoutMs = 20_000

const changes = {
  [ObjectDifferenceType.MISSING]: 'missing',
  [ObjectDifferenceType.CHANGED]: 'changed',
  [ObjectDifferenceType.ADDED]: 'added',
  [ObjectDifferenceType.FOREIGN]: 'foreign',
} as const

/**
 * Compares what a cluster has with the release of a deployment that runs there. Callers that ask for the same release at the same time share
 * one comparison, so that nobody loads a cluster by asking often.
 */
export function createDriftCheck(app: App) {
  const comparing = new Map<string, Promise<Drift>>()

  /** @throws CruxError notFound, preconditionFailed with a sentence where nothing can be compared now, otherwise as `app.links.request` */
  return async function findDrift({ team }: Caller, deploymentId: string): Promise<Drift> {
    const { pool } = app.database
    await findAttempts(pool, team.id, deploymentId)
    const release = await findRunningRelease(pool, deploymentId)
    if (!release) return { release: null, objects: [] }
    const known = comparing.get(release.id)
    if (known) return known
    const comparison = compare(app, release).finally(() => comparing.delete(release.id))
    comparing.set(release.id, comparison)
    return comparison
  }
}

async function compare(app: App, release: ReleaseRow): Promise<Drift> {
  const { pool } = app.database
  const node = await findNodeCluster(pool, release.nodeId)
  if (node?.type !== 'k8s') throw refuse('node', 'Only deployments on a cluster are compared with what it has.')
  await refuseInProgress(app, release)
  const rows = await releaseInstances(pool, release.id)
  // Nothing is pulled, and tokens of registries are not made for a page that asks again and again.
  const complete = await buildRelease(
    app,
    pool,
    release,
    rows.map((row) => ({ ...row, registryId: null })),
  )
  const value = { release: await complete(), scope: await engineScope(app, release) }
  const answer = await app.links
    .request(release.nodeId, { case: 'findDrift', value }, answerTimeoutMs)
    .catch((error: unknown) => {
      if (!(error instanceof CruxError) || error.property !== 'agent' || error.code !== 'notFound') throw error
      throw refuse('node', 'The node is not connected, so that its cluster cannot be compared.')
    })
  if (answer.case !== 'drift') throw unusableAnswer()
  // A release that started meanwhile has changed the cluster itself.
  await refuseInProgress(app, release)
  const names = new Map(rows.map(({ containerName, instanceId }) => [instanceId, containerName]))
  return { release: release.number, objects: answer.value.objects.flatMap((object) => toObject(object, names)) }
}

async function refuseInProgress(app: App, release: ReleaseRow): Promise<void> {
  const [ahead, current] = await Promise.all([
    findReleaseAhead(app.database.pool, release),
    findRunningRelease(app.database.pool, release.deploymentId),
  ])
  if (ahead)
    throw refuse('status', 'A release is in progress: what it changes cannot be distinguished until it has ended.')
  if (current?.id !== release.id) throw refuse('status', 'Another release has replaced this one: look again.')
}

const refuse = (property: string, description: string) => new CruxError('preconditionFailed', { property, description })

function toObject({ fields, instanceId, kind, name, type }: ObjectDifference, names: ReadonlyMap<string, string>) {
  if (type === ObjectDifferenceType.UNSPECIFIED) return []
  return [
    {
      kind,
      name,
      containerName: names.get(instanceId) ?? null,
      change: changes[type],
      fields: fields.map(({ found = null, path, secret, wanted = null }) => ({
        path,
        secret,
        // An agent has no reason to send them, and nobody gets them.
        wanted: secret ? null : wanted,
        found: secret ? null : found,
      })),
    },
  ]
}

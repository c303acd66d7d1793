import { CruxError, isAllowed, type VersionType } from '@crux/contract'
import type { TeamContext } from '../access/index.ts'
import type { Queries } from '../db/transaction.ts'

export type ProtectionTarget = {
  nodeId: string
  prefix: string
  versionId: string
  versionType: VersionType
  exceptId?: string
}

/**
 * A protected deployment that blocks node and prefix: for a rolling version any other one, for an incremental one those
 * of other versions.
 */
export async function findOtherProtected(queries: Queries, target: ProtectionTarget): Promise<string | undefined> {
  const { rows } = await queries.query<{ id: string }>({
    name: 'protected deployment',
    text: `select id from crux.deployment
      where node_id = $1 and prefix = $2 and protected and id is distinct from $3
        and ($4 = 'rolling' or version_id <> $5) order by created_at limit 1`,
    values: [target.nodeId, target.prefix, target.exceptId ?? null, target.versionType, target.versionId],
  })
  return rows[0]?.id
}

/** @throws CruxError forbidden or preconditionFailed `deploymentId` when this user cannot protect this deployment target */
export async function checkProtect(queries: Queries, team: TeamContext, target: ProtectionTarget): Promise<void> {
  checkMayProtect(team)
  // Locked until the transaction ends, so that a concurrent request for another version sees this one.
  await queries.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `protect ${target.nodeId} ${target.prefix}`,
  ])
  const other = await findOtherProtected(queries, target)
  if (other)
    throw new CruxError('preconditionFailed', {
      property: 'deploymentId',
      value: other,
      description: 'Another deployment is protected on this node and prefix.',
    })
}

/** @throws CruxError forbidden */
export function checkMayProtect(team: TeamContext): void {
  if (!isAllowed(team.role, 'deployments.protect'))
    throw new CruxError('forbidden', {
      property: 'protected',
      description: 'Only an admin of the team may set or lift the protection.',
    })
}

/**
 * Checks that version, node and prefix are free: a rolling version has one deployment there in any status, an
 * incremental one at most one that is `preparing` (a copy also needs that none is in progress).
 *
 * @throws CruxError rollingVersionDeployment or alreadyHavePreparing, `value` is the existing deployment
 */
export async function checkFree(
  queries: Queries,
  target: ProtectionTarget,
  statuses: readonly string[] = ['preparing'],
): Promise<void> {
  const rolling = target.versionType === 'rolling'
  const { rows } = await queries.query<{ id: string }>(
    `select id from crux.deployment where version_id = $1 and node_id = $2 and prefix = $3 and id is distinct from $4
       and ($5::text[] is null or status = any($5)) order by created_at desc limit 1`,
    [target.versionId, target.nodeId, target.prefix, target.exceptId ?? null, rolling ? null : statuses],
  )
  const [found] = rows
  if (found)
    throw new CruxError(rolling ? 'rollingVersionDeployment' : 'alreadyHavePreparing', {
      property: 'deploymentId',
      value: found.id,
    })
}

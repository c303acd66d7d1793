import { CruxError, isAllowed } from '@crux/contract'
import type { TeamContext } from '../access/index.ts'
import { lockByName } from '../db/lock-order.ts'
import type { Queries } from '../db/queries.ts'
import { findAtTarget, findOtherProtected, type ProtectionTarget } from './target-store.ts'

/** @throws CruxError forbidden or preconditionFailed `deploymentId` when this user cannot protect this deployment target */
export async function checkProtect(queries: Queries, team: TeamContext, target: ProtectionTarget): Promise<void> {
  checkMayProtect(team)
  // Locked until the transaction ends, so that a concurrent request for another version sees this one.
  await lockByName(queries, `protect ${target.nodeId} ${target.prefix}`)
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
  const found = await findAtTarget(queries, target, rolling ? undefined : statuses)
  if (found)
    throw new CruxError(rolling ? 'rollingVersionDeployment' : 'alreadyHavePreparing', {
      property: 'deploymentId',
      value: found,
    })
}

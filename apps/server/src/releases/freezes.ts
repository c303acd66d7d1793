import { CruxError, isAllowed } from '@crux/contract'
import { freezeEndText } from '@crux/rules'
import type { Queries } from '../db/queries.ts'
import { type Freeze, findFreezeOfStart } from '../freeze-windows/index.ts'
import type { LoadedDeployment } from './deployment-store.ts'
import type { StartRequest } from './start-request.ts'

/**
 * Refuses a start during a freeze of its node and prefix, for everyone but an admin who says why. That has to be a user
 * who is signed in: a script with a stored reason would end every freeze.
 */
export async function checkFreeze(
  queries: Queries,
  deployment: LoadedDeployment,
  { team, actor, overrideFreeze }: StartRequest,
): Promise<CruxError | undefined> {
  const isOverridden = typeof overrideFreeze === 'string'
  if (isOverridden && !(actor.sessionId !== undefined && isAllowed(team.role, 'packages.freeze')))
    return new CruxError('forbidden', {
      property: 'overrideFreeze',
      description: 'Only an admin of the team who is signed in may deploy during a freeze window.',
    })
  const freeze = await findFreezeOfStart(queries, toTarget(deployment), new Date())
  if (!freeze || isOverridden) return undefined
  return new CruxError('preconditionFailed', {
    property: 'freezeWindow',
    value: { until: freeze.until },
    description: `${describeFreeze(freeze)}. Only an admin of the team who is signed in may deploy before, with a reason.`,
  })
}

/** When a start that was refused for a freeze can be tried again; undefined for another refusal. */
export function getFreezeEnd({ property, value }: CruxError): Date | undefined {
  if (property !== 'freezeWindow' || typeof value !== 'object' || value === null || !('until' in value))
    return undefined
  return value.until instanceof Date ? value.until : undefined
}

export type Override = { overrideFreeze: string; freeze: Pick<Freeze, 'reason' | 'until'> }

/** What an override overrides. The checks have allowed it; while nothing is frozen there is nothing to store. */
export async function findOverride(
  queries: Queries,
  deployment: LoadedDeployment,
  overrideFreeze: string | null | undefined,
): Promise<Override | undefined> {
  if (typeof overrideFreeze !== 'string') return undefined
  const freeze = await findFreezeOfStart(queries, toTarget(deployment), new Date())
  return freeze && { overrideFreeze, freeze: { reason: freeze.reason, until: freeze.until } }
}

/** One line of the log of a release. */
export const overrideText = (by: string, { overrideFreeze, freeze }: Override): string =>
  `${by} deploys during a freeze window (${toLine(freeze.reason)}): ${toLine(overrideFreeze)}`

const describeFreeze = (freeze: Freeze) =>
  `${freeze.environments.join(', ')} ${freeze.environments.length > 1 ? 'are' : 'is'} frozen ${freezeEndText(freeze)}: ${toLine(freeze.reason)}`

const toLine = (text: string) => text.replace(/\s+/g, ' ').replace(/\.$/, '')

const toTarget = ({ node, prefix }: LoadedDeployment) => ({ nodeId: node.id, prefix })

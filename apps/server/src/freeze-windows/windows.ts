import type { ResponseInput } from '@crux/contract'
import { type Freeze as FreezeTimes, findFreeze } from '@crux/rules'
import { lockByName, shareByName } from '../db/lock-order.ts'
import type { Queries } from '../db/queries.ts'
import { selectEnvironmentsWithWindows, selectTargetWindows, selectWindows, type Target } from './store.ts'

/** With the environments whose windows apply: their package and their name. */
export type Freeze = FreezeTimes & { environments: string[] }

/** The freeze of each deployment target that nothing may be deployed to at `now`, in the order of `targets`. */
export async function findFreezes(
  queries: Queries,
  targets: readonly Target[],
  now: Date,
): Promise<(Freeze | undefined)[]> {
  if (targets.length === 0) return []
  const rows = await selectTargetWindows(queries, targets)
  return targets.map((_, index) => {
    const applying = rows.filter((row) => row.index === index)
    const freeze = findFreeze(
      applying.map(({ window }) => window),
      now,
    )
    if (!freeze) return undefined
    const frozen = applying.filter(({ window }) => findFreeze([window], now))
    return { ...freeze, environments: [...new Set(frozen.map(({ environmentName }) => environmentName))] }
  })
}

/**
 * The freeze of a start, inside its transaction. Editing windows waits until the starts that have been checked are
 * stored, and starts wait until the edit is. So no start begins unchecked after the answer to an edit.
 */
export async function findFreezeOfStart(queries: Queries, target: Target, now: Date): Promise<Freeze | undefined> {
  const [, [freeze]] = await Promise.all([shareByName(queries, lockName(target)), findFreezes(queries, [target], now)])
  return freeze
}

/** Waits for the starts at a target that have been checked; later ones see what the transaction stores. */
export const lockStarts = (queries: Queries, target: Target) => lockByName(queries, lockName(target))

const lockName = ({ nodeId, prefix }: Target) => `freeze ${nodeId} ${prefix}`

export const listFreezeWindows = (
  queries: Queries,
  environmentId: string,
): Promise<NonNullable<ResponseInput<'packages.get-environment'>['freezeWindows']>> =>
  selectWindows(queries, environmentId)

/**
 * Environments with freeze windows may be moved or deleted by admins only, because that ends the freeze. Windows that
 * have ended do not count.
 *
 * @returns the ids of those among the given ones
 */
export const listWithFreezeWindows = async (
  queries: Queries,
  environmentIds: readonly string[],
): Promise<ReadonlySet<string>> => new Set(await selectEnvironmentsWithWindows(queries, environmentIds))

import type { ResponseInput } from '@crux/contract'
import type { Queries } from '../db/queries.ts'

export type Freeze = { reason: string; until: Date }
type Target = { nodeId: string; prefix: string }

/** The freeze of each deployment target that nothing may be deployed to at `now`, in the order of `targets`. */
export async function findFreezes(
  _queries: Queries,
  targets: readonly Target[],
  _now: Date,
): Promise<(Freeze | undefined)[]> {
  return targets.map(() => undefined)
}

export async function listFreezeWindows(
  _queries: Queries,
  _environmentId: string,
): Promise<NonNullable<ResponseInput<'packages.get-environment'>['freezeWindows']>> {
  return []
}

/** Environments with freeze windows may be moved or deleted by admins only, because that ends the freeze. */
export async function hasFreezeWindows(_queries: Queries, _environmentIds: readonly string[]): Promise<boolean> {
  return false
}

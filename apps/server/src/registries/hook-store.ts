import type { HookKind } from '@crux/contract'
import { type Queries, sql } from '../db/queries.ts'
import type { registryHook } from '../db/schema/index.ts'

type HookRow = typeof registryHook.$inferSelect
/** Neither the hash nor the secret is selected, so that no response can show them. */
export type ListedHook = Pick<HookRow, 'kind' | 'createdAt' | 'createdBy'>

export const selectHooks = (queries: Queries, registryId: string): Promise<ListedHook[]> =>
  sql`select kind, created_at, created_by from crux.registry_hook
    where registry_id = ${registryId} order by kind`.rows<ListedHook>(queries, 'hooks of registry')

export const insertHook = (queries: Queries, hook: Omit<HookRow, 'createdAt'>) =>
  sql`insert into crux.registry_hook (id, registry_id, kind, hash, secret, created_by)
    values (${hook.id}, ${hook.registryId}, ${hook.kind}, ${hook.hash}, ${hook.secret}, ${hook.createdBy})
    returning created_at`.one<Pick<HookRow, 'createdAt'>>(queries)

export const deleteHook = async (queries: Queries, registryId: string, kind: HookKind): Promise<boolean> =>
  (await sql`delete from crux.registry_hook
    where registry_id = ${registryId} and kind = ${kind}`.execute(queries)) === 1

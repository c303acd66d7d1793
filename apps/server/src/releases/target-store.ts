import type { VersionType } from '@crux/contract'
import { nothing, type Queries, sql } from '../db/queries.ts'

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
export const findOtherProtected = (
  queries: Queries,
  { nodeId, prefix, versionId, versionType, exceptId }: ProtectionTarget,
) =>
  sql`select id from crux.deployment
    where node_id = ${nodeId} and prefix = ${prefix} and protected and id is distinct from ${exceptId ?? null}
      and (${versionType} = 'rolling' or version_id <> ${versionId})
    order by created_at limit 1`.value(queries, 'protected deployment')

/** The newest deployment of the version at a node and prefix. @param statuses only one in these; any when absent */
export const findAtTarget = (
  queries: Queries,
  { nodeId, prefix, versionId, exceptId }: ProtectionTarget,
  statuses: readonly string[] | undefined,
) =>
  sql`select id from crux.deployment
    where version_id = ${versionId} and node_id = ${nodeId} and prefix = ${prefix}
      and id is distinct from ${exceptId ?? null} ${statuses ? sql`and status = any(${statuses})` : nothing}
    order by created_at desc limit 1`.value(queries)

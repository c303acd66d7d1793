import type { FinalContainerConfig } from '@crux/contract'
import { type Queries, sql } from '../db/queries.ts'

/** An instance as a start would deploy it: from the current layers, or from an earlier release. */
export type Startable = {
  id: string
  config: FinalContainerConfig
  image: { registryId: string | null; reference: string; tag: string; localOnly: boolean }
}

/**
 * Everything that decides what runs, as far as it is known before a tag is resolved. Secrets are hashes of their
 * encrypted values.
 */
export type Subject = {
  nodeId: string
  prefix: string
  image: Startable['image']
  storageUrl: string | null
  config: FinalContainerConfig
}

export type Confirmation = {
  instanceId: string
  hash: string
  subject: Subject
  byId: string
  byName: string
  at: Date
}

/** By instance. */
export async function selectConfirmations(queries: Queries, deploymentId: string): Promise<Map<string, Confirmation>> {
  const rows = await sql`select instance_id, hash, subject, confirmed_by_id as by_id, confirmed_by_name as by_name,
      confirmed_at as at
    from crux.danger_confirmation
    where deployment_id = ${deploymentId}`.rows<Confirmation>(queries, 'confirmations of a deployment')
  return new Map(rows.map((row) => [row.instanceId, row]))
}

export const deleteConfirmations = (
  queries: Queries,
  deploymentId: string,
  instances: { of: readonly string[]; except: readonly string[] },
) =>
  sql`delete from crux.danger_confirmation
    where deployment_id = ${deploymentId} and instance_id = any(${instances.of}::uuid[])
      and not (instance_id = any(${instances.except}::uuid[]))`.execute(queries, 'forget confirmations')

export const upsertConfirmation = (
  queries: Queries,
  deploymentId: string,
  { instanceId, hash, subject }: Pick<Confirmation, 'instanceId' | 'hash' | 'subject'>,
  by: { id: string; name: string },
) =>
  sql`insert into crux.danger_confirmation (deployment_id, instance_id, hash, subject, confirmed_by_id,
      confirmed_by_name)
    values (${deploymentId}, ${instanceId}, ${hash}, ${JSON.stringify(subject)}, ${by.id}, ${by.name})
    on conflict (deployment_id, instance_id) do update set hash = excluded.hash, subject = excluded.subject,
      confirmed_by_id = excluded.confirmed_by_id, confirmed_by_name = excluded.confirmed_by_name,
      confirmed_at = now()`.execute(queries, 'confirm dangers')

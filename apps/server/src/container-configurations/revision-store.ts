import { ContainerConfigFields } from '@crux/contract'
import { type Queries, sql } from '../db/queries.ts'
import type { ConfigRow } from './config-row.ts'

/** The number of stored states of one configuration; the oldest are deleted. */
export const revisionsMax = 200

/**
 * Adds a state to the history. Values of secrets are not stored: a replaced value cannot be restored. Before the first
 * change the state before it is stored as well, so that it can be restored.
 */
export async function keepRevision(
  queries: Queries,
  before: ConfigRow,
  change: { fields: ContainerConfigFields; revision: number; changed: readonly string[]; userId: string },
): Promise<void> {
  await sql`insert into crux.container_config_revision (config_id, revision, fields, changed, updated_by, updated_at)
    select ${before.id}, ${before.revision},
    ${JSON.stringify(withoutSecretValues(ContainerConfigFields.parse(before.fields)))}, '{}',
    coalesce(${before.updatedBy}, ''), ${before.updatedAt}
    where not exists (select from crux.container_config_revision
    where config_id = ${before.id})`.execute(queries, 'keep first revision')
  await sql`insert into crux.container_config_revision (config_id, revision, fields, changed, updated_by)
    values (${before.id}, ${change.revision}, ${JSON.stringify(withoutSecretValues(change.fields))}, ${change.changed},
      ${change.userId})`.execute(queries, 'keep revision')
  await sql`delete from crux.container_config_revision where config_id = ${before.id} and revision <= (
    select revision from crux.container_config_revision where config_id = ${before.id}
    order by revision desc offset ${revisionsMax} limit 1)`.execute(queries, 'drop old revisions')
}

/** The part of a layer that may be stored and shown: keys of secrets, whether they are required, and their groups. */
export function withoutSecretValues(fields: ContainerConfigFields): ContainerConfigFields {
  if (!fields.secrets) return fields
  const secrets = fields.secrets.map(({ id, key, required, generate }) => ({
    ...(id && { id }),
    key,
    required,
    ...(generate && { generate }),
  }))
  return { ...fields, secrets }
}

export type RevisionRow = { revision: number; changed: string[]; updatedBy: string; updatedAt: Date }
const columns = sql`revision, changed, updated_by, updated_at`

export async function selectRevisions(
  queries: Queries,
  configId: string,
  page: { skip: number; take: number },
): Promise<{ rows: RevisionRow[]; total: number }> {
  const rows = await sql`select ${columns} from crux.container_config_revision where config_id = ${configId}
    order by revision desc offset ${page.skip} limit ${page.take}`.rows<RevisionRow>(queries, 'revisions')
  const { total } = await sql`select count(*)::int as total from crux.container_config_revision
    where config_id = ${configId}`.one<{ total: number }>(queries, 'count revisions')
  return { rows, total }
}

export const selectRevision = (queries: Queries, configId: string, revision: number) =>
  sql`select ${columns}, fields from crux.container_config_revision
    where config_id = ${configId}
    and revision = ${revision}`.first<RevisionRow & { fields: unknown }>(queries, 'revision')

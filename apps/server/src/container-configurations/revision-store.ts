import { ContainerConfigFields } from '@crux/contract'
import type { Queries } from '../db/transaction.ts'
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
  await queries.query({
    name: 'keep first revision',
    text: `insert into crux.container_config_revision (config_id, revision, fields, changed, updated_by, updated_at)
      select $1, $2, $3, '{}', coalesce($4, ''), $5
      where not exists (select from crux.container_config_revision where config_id = $1)`,
    values: [
      before.id,
      before.revision,
      JSON.stringify(withoutSecretValues(ContainerConfigFields.parse(before.fields))),
      before.updatedBy,
      before.updatedAt,
    ],
  })
  await queries.query({
    name: 'keep revision',
    text: `insert into crux.container_config_revision (config_id, revision, fields, changed, updated_by)
      values ($1, $2, $3, $4, $5)`,
    values: [
      before.id,
      change.revision,
      JSON.stringify(withoutSecretValues(change.fields)),
      change.changed,
      change.userId,
    ],
  })
  await queries.query({
    name: 'drop old revisions',
    text: `delete from crux.container_config_revision where config_id = $1 and revision <= (
        select revision from crux.container_config_revision where config_id = $1
        order by revision desc offset $2 limit 1)`,
    values: [before.id, revisionsMax],
  })
}

/** The part of a layer that may be stored and shown: keys of secrets and whether they are required. */
export function withoutSecretValues(fields: ContainerConfigFields): ContainerConfigFields {
  if (!fields.secrets) return fields
  return { ...fields, secrets: fields.secrets.map(({ id, key, required }) => ({ ...(id && { id }), key, required })) }
}

export type RevisionRow = { revision: number; changed: string[]; updatedBy: string; updatedAt: Date }
const columns = `revision, changed, updated_by, updated_at`

export async function selectRevisions(
  queries: Queries,
  configId: string,
  page: { skip: number; take: number },
): Promise<{ rows: RevisionRow[]; total: number }> {
  const [{ rows }, counted] = [
    await queries.query<RevisionRow>({
      name: 'revisions',
      text: `select ${columns} from crux.container_config_revision where config_id = $1
        order by revision desc offset $2 limit $3`,
      values: [configId, page.skip, page.take],
    }),
    await queries.query<{ total: number }>({
      name: 'count revisions',
      text: 'select count(*)::int as total from crux.container_config_revision where config_id = $1',
      values: [configId],
    }),
  ]
  return { rows, total: counted.rows[0]?.total ?? 0 }
}

export async function selectRevision(queries: Queries, configId: string, revision: number) {
  const { rows } = await queries.query<RevisionRow & { fields: unknown }>({
    name: 'revision',
    text: `select ${columns}, fields from crux.container_config_revision where config_id = $1 and revision = $2`,
    values: [configId, revision],
  })
  return rows[0]
}

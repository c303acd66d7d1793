import { type Queries, sql } from '../db/queries.ts'

/** A layer whose values were emptied, and its new revision. */
export type StaleLayer = { configId: string; revision: number }

/**
 * Empties the values that are encrypted for a key which the node no longer has, in every layer of its deployments, and
 * stores the current key with them: a row with a key but without a value has to be entered again. The history needs no
 * entry, because it has no values.
 *
 * @param where.deploymentId only the layers of this one
 */
export const invalidateSecrets = (queries: Queries, where: { nodeId: string; deploymentId?: string }) =>
  sql`with layer as (
      select c.id, n.public_key from crux.deployment d join crux.node n on n.id = d.node_id
      join crux.container_config c on c.deployment_id = d.id
        or c.instance_id in (select inst.id from crux.instance inst where inst.deployment_id = d.id)
      where d.node_id = ${where.nodeId}
        and (${where.deploymentId ?? null}::uuid is null or d.id = ${where.deploymentId ?? null})
        and jsonb_typeof(c.fields->'secrets') = 'array'),
    held as (
      select c.id, layer.public_key from crux.container_config c join layer on layer.id = c.id
      where exists (select from jsonb_array_elements(c.fields->'secrets') row
        where coalesce(row->>'value', '') <> '' and row->>'publicKey' is distinct from layer.public_key)
      order by c.id for update of c)
    update crux.container_config c set revision = c.revision + 1, updated_at = now(),
      fields = jsonb_set(c.fields, '{secrets}', (
        select jsonb_agg(case
          when coalesce(row->>'value', '') <> '' and row->>'publicKey' is distinct from held.public_key
          then row || jsonb_build_object('value', '', 'encrypted', false, 'publicKey', held.public_key)
          else row end order by place)
        from jsonb_array_elements(c.fields->'secrets') with ordinality as one(row, place)))
    from held where c.id = held.id
    returning c.id as config_id, c.revision`.rows<StaleLayer>(queries, 'void secrets')

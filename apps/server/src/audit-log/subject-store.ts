import type { ResponseInput } from '@crux/contract'
import { getField, isUuid } from '@crux/service-kit'
import { type Queries, sql } from '../db/queries.ts'
import type { AuditRow } from './store.ts'

export type Subject = NonNullable<ResponseInput<'audit-log.list'>['items'][number]['subject']>

/** The resources of an entry, the closest first: an image is changed within a version, which belongs to a project. */
const idKeys = [
  'deploymentId',
  'versionId',
  'projectId',
  'nodeId',
  'registryId',
  'configBundleId',
  'storageId',
  'pipelineId',
  'notificationId',
] as const

/** The single version of a versionless project was not created by a user, and pages do not show it. */
const named = sql`p.name || case when p.type = 'versionless' then '' else ' ' || v.name end`

/** The subjects of a page of entries, by entry, in one query. Deleted resources and those of other teams have none. */
export async function findSubjects(
  queries: Queries,
  teamId: string,
  rows: readonly Pick<AuditRow, 'id' | 'data'>[],
): Promise<Map<string, Subject>> {
  const wanted = new Map(rows.map((row) => [row.id, listIds(row.data)]))
  const ids = [...new Set([...wanted.values()].flat())]
  if (ids.length === 0) return new Map()
  const found = await sql`with wanted as (select unnest(${ids}::uuid[]) as id)
    select 'deployment' as kind, d.id, ${named} || ' on ' || n.name as name, null::uuid as project_id
      from wanted w join crux.deployment d on d.id = w.id and d.team_id = ${teamId}
      join crux.project p on p.id = d.project_id join crux.version v on v.id = d.version_id
      join crux.node n on n.id = d.node_id
    union all select 'version', v.id, ${named}, p.id
      from wanted w join crux.version v on v.id = w.id
    join crux.project p on p.id = v.project_id and p.team_id = ${teamId}
    union all select 'project', p.id, p.name, null from wanted w
    join crux.project p on p.id = w.id and p.team_id = ${teamId}
    union all select 'node', n.id, n.name, null from wanted w
    join crux.node n on n.id = w.id and n.team_id = ${teamId}
    union all select 'registry', r.id, r.name, null from wanted w
    join crux.registry r on r.id = w.id and r.team_id = ${teamId}
    union all select 'config-bundle', b.id, b.name, null
      from wanted w join crux.config_bundle b on b.id = w.id and b.team_id = ${teamId}
    union all select 'storage', s.id, s.name, null from wanted w
    join crux.storage s on s.id = w.id and s.team_id = ${teamId}
    union all select 'pipeline', l.id, l.name, null from wanted w
    join crux.pipeline l on l.id = w.id and l.team_id = ${teamId}
    union all select 'notification', t.id, t.name, null from wanted w
    join crux.notification t on t.id = w.id and t.team_id = ${teamId}
    union all select 'package', k.id, k.name, null from wanted w
    join crux.package k on k.id = w.id and k.team_id = ${teamId}`.rows<Subject>(queries, 'audit log subjects')
  const byId = new Map(found.map((subject) => [subject.id, subject]))
  return new Map(
    [...wanted].flatMap(([entry, candidates]) => {
      const subject = candidates.map((id) => byId.get(id)).find((one) => one !== undefined)
      return subject ? [[entry, subject] as const] : []
    }),
  )
}

/**
 * The ids of the address; those of the body only if the address has none, as for created resources. The package comes
 * last, because most changes in one are about a version or a node that the body names.
 */
function listIds(data: unknown): string[] {
  const from = (part: unknown, keys: readonly string[] = idKeys) =>
    keys.flatMap((key) => {
      const id = getField(part, key)
      return isUuid(id) ? [id] : []
    })
  const params = getField(data, 'params')
  const own = from(params)
  return own.length > 0 ? own : [...from(getField(data, 'body')), ...from(params, ['packageId'])]
}

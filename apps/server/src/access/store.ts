import type { HookKind, PipelineType, RegistryType, TokenScope } from '@crux/contract'
import { type Queries, raw, type Sql, sql } from '../db/queries.ts'
import type { Actor, TeamContext } from './actor.ts'

export type FoundToken = {
  id: string
  createdAt: Date
  name: string
  scope: TokenScope
  aal: 'aal1' | 'aal2'
  createdBy: string
  expiresAt: Date | null
  userId: string | null
  teamId: string | null
  deploymentId: string | null
  registryId: string | null
  serviceAccountId: string | null
  serviceAccountName: string | null
}

/** The index lookup of the hash is the comparison, so that timing reveals nothing of a token. */
export const findToken = (queries: Queries, hash: string) =>
  sql`select k.id, k.created_at, k.name, k.scope, k.aal, k.created_by, k.expires_at, k.user_id,
      k.team_id, k.deployment_id, k.registry_id, a.id as service_account_id, a.name as service_account_name
    from crux.access_token k left join crux.service_account a on a.id = k.service_account_id
    and a.deleted_at is null
    where k.hash = ${hash}`.first<FoundToken>(queries, 'token by hash')

/** Precise to the minute: of several servers only one writes it. */
export const touchToken = (queries: Queries, id: string) =>
  sql`update crux.access_token set last_used_at = now()
    where id = ${id} and (last_used_at is null
    or last_used_at < now() - interval '1 minute')`.execute(queries, 'touch token')

export type TeamKey = { by: 'slug' | 'id'; value: string }

/** The team with the user's role in it; undefined when they are no member. */
export const findMember = (queries: Queries, userId: string, teamId: string) =>
  findMembership(queries, { kind: 'user', id: userId }, { by: 'id', value: teamId })

/** The role of each kind of actor in a team `t`, and the tables that have it. */
const memberships: Record<Actor['kind'], (id: string) => { role: string; joins: Sql }> = {
  user: (id) => ({ role: 'm.role', joins: sql`join crux.team_member m on m.team_id = t.id and m.user_id = ${id}` }),
  'service-account': (id) => ({
    role: 'a.role',
    joins: sql`join crux.service_account a on a.team_id = t.id and a.id = ${id} and a.deleted_at is null`,
  }),
  // The token has its creator's current rights, but at most those of an admin; a user's rights once the creator has
  // left.
  'deployment-token': (id) => ({
    role: `case when m.role in ('admin', 'owner') then 'admin' else 'user' end`,
    joins: sql`join crux.access_token k on k.team_id = t.id and k.id = ${id} and k.hash is not null
      left join crux.team_member m on m.team_id = t.id and m.user_id = k.created_by`,
  }),
}

/** The team and the actor's role in it; undefined when the actor is no member. */
export function findMembership(queries: Queries, { kind, id }: Pick<Actor, 'kind' | 'id'>, { by, value }: TeamKey) {
  const { role, joins } = memberships[kind](id)
  return sql`select t.id, t.slug, t.name, t.second_factor_required, ${raw(role)} as role from crux.team t ${joins}
    where t.${raw(by)} = ${value}`.first<TeamContext>(queries, `membership of a ${kind} by ${by}`)
}

export type FoundHook = { id: string; hash: string | null; secret: string | null; type: RegistryType; url: string }

/** The secret of a registry's hook, which only the verification of a delivery reads. */
export const findHook = (queries: Queries, registryId: string, kind: HookKind) =>
  sql`select h.id, h.hash, h.secret, r.type, r.url
    from crux.registry_hook h join crux.registry r on r.id = h.registry_id
    where h.registry_id = ${registryId} and h.kind = ${kind}`.first<FoundHook>(queries, 'hook of registry')

/** The sealed secret of a pipeline's hook, while the pipeline is of this type. */
export const findPipelineHook = (queries: Queries, pipelineId: string, type: PipelineType) =>
  sql`select h.secret from crux.pipeline_hook h join crux.pipeline p on p.id = h.pipeline_id
    where h.pipeline_id = ${pipelineId} and p.type = ${type} and h.secret is not null`.value(
    queries,
    'hook of pipeline',
  )

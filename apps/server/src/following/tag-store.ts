import { type Queries, type Sql, sql } from '../db/queries.ts'

/** A tag whose digest is to be read, with the team whose credentials are used. */
export type ClaimedTag = {
  id: string
  registryId: string
  teamId: string
  name: string
  tag: string
  /** The deliveries of hooks that requested the check. */
  requestedBy: string[]
}
export type CheckResult = {
  /** Undefined when the check failed. */
  digest: string | undefined
  /** The deliveries that requested the check. */
  requestedBy: readonly string[]
  error: string | null
  /** Until the next check without a push, for a team that does not follow many tags. */
  intervalMs: number
  /** The registry refuses requests for this time. */
  blockedMs?: number | undefined
}

/** A claim of a server that has ended is taken over after this time, which is longer than a check may take. */
const claimSeconds = 60
/** Checks of one tag that events cause are this far apart. */
const spacingMs = 1_000
/**
 * The regular checks of a team are this far apart on average, so that they cost its registries less than one request per
 * second however many tags it follows. Teams do not delay each other.
 */
const teamSpacingMs = 1_250

/** The milliseconds between two regular checks of a tag of this team. */
const teamInterval = (teamId: Sql, intervalMs: number) => sql`greatest(${intervalMs}::float8,
  ${teamSpacingMs}::float8 * (select count(*) from crux.followed_tag team_tag
    join crux.registry owned on owned.id = team_tag.registry_id where owned.team_id = (${teamId})))`

/** The number of deliveries that are remembered for one tag. */
const deliveriesMax = 20

/** Whether an event names the tag. Docker Hub names its official images `library/NAME`. */
const isNamed = sql`(pushed.tag is null or pushed.tag = ft.tag)
    and (pushed.repository = case when r.type = 'gitlab' then ft.name
        else concat_ws('/', nullif(trim(both '/' from r.image_name_prefix), ''), ft.name) end
      or r.type = 'hub' and pushed.repository = 'library/' || ft.name)`

/**
 * Requests a check of the followed tags that an event of the registry names, with the repositories named as in the
 * registry.
 *
 * @returns the milliseconds until the first of these checks is due; undefined when nobody follows any of them
 */
export async function requestChecks(
  queries: Queries,
  registryId: string,
  pushes: readonly { repository: string; tag?: string | undefined; deliveryId?: string | undefined }[],
): Promise<number | undefined> {
  const names = pushes.map(({ repository }) => repository)
  const tags = pushes.map(({ tag }) => tag ?? null)
  const deliveries = pushes.map(({ deliveryId }) => deliveryId ?? null)
  const waits = await sql`with named as (
      select ft.id, array_remove(array_agg(pushed.delivery), null) as deliveries
      from crux.followed_tag ft join crux.registry r on r.id = ft.registry_id
      join unnest(${names}::text[], ${tags}::text[], ${deliveries}::uuid[]) as pushed(repository, tag, delivery)
        on ${isNamed}
      where r.id = ${registryId} group by ft.id),
    locked as (select id from crux.followed_tag where id in (select id from named) order by id for update)
    update crux.followed_tag ft set pushed_at = now(),
      -- Each server receives the event. A delivery whose digest was found already requested that check, not the next one.
      requested_by = (array(select delivery from unnest(named.deliveries || ft.requested_by) as delivery
        where delivery <> all(ft.digest_deliveries) group by delivery order by delivery desc))[1:${deliveriesMax}::int],
      next_check_at = least(ft.next_check_at,
        greatest(now(), ft.checked_at + ${spacingMs} * interval '1 millisecond', ft.blocked_until))
    from locked join named on named.id = locked.id where ft.id = locked.id
    returning greatest(0, ceil(extract(epoch from ft.next_check_at - now()) * 1000))::float8 as wait`.column<number>(
    queries,
    'request checks of tags',
  )
  return waits.length === 0 ? undefined : Math.min(...waits)
}

/** Adds the tag that an instance follows from now on, or requests a check of it. */
export const followTag = (queries: Queries, image: { registryId: string; name: string; tag: string }) =>
  sql`insert into crux.followed_tag as ft (registry_id, name, tag)
    values (${image.registryId}, ${image.name}, ${image.tag})
    on conflict (registry_id, name, tag) do update set next_check_at = least(ft.next_check_at,
      greatest(now(), ft.checked_at + ${spacingMs} * interval '1 millisecond', ft.blocked_until))`.execute(
    queries,
    'follow tag',
  )

/**
 * Adds the tags that instances follow since their images were changed, spread over the interval, and deletes those that
 * nobody follows any more.
 */
export async function syncTags(queries: Queries, intervalMs: number): Promise<void> {
  await sql`insert into crux.followed_tag (registry_id, name, tag, next_check_at)
    select registry_id, name, tag, now() + random() * interval '1 millisecond'
      * greatest(${intervalMs}::float8, ${teamSpacingMs}::float8 * count(*) over (partition by team_id))
    from (
      select distinct r.team_id, i.registry_id, i.name, coalesce(nullif(i.tag, ''), 'latest') as tag
      from crux.instance inst join crux.image i on i.id = inst.image_id join crux.registry r on r.id = i.registry_id
      where inst.follow <> 'off' and position('sha256:' in coalesce(i.tag, '')) = 0) followed
    on conflict do nothing`.execute(queries, 'add followed tags')
  await sql`delete from crux.followed_tag ft where not exists (
    select from crux.image i join crux.instance inst on inst.image_id = i.id and inst.follow <> 'off'
    where i.registry_id = ft.registry_id and i.name = ft.name
      and coalesce(nullif(i.tag, ''), 'latest') = ft.tag)`.execute(queries, 'delete tags that nobody follows')
}

/**
 * Claims checks that are due, for this server alone.
 *
 * @param except registries that this server sends enough requests to already, and teams for which it does
 */
export const claimChecks = (
  queries: Queries,
  { max, except }: { max: number; except: { registries: readonly string[]; teams: readonly string[] } },
) =>
  sql`update crux.followed_tag ft set claimed_at = clock_timestamp() from crux.registry r
    where r.id = ft.registry_id and ft.id in (
      select id from crux.followed_tag
      where next_check_at <= now() and not (registry_id = any(${except.registries}::uuid[]))
        and not exists (select from crux.registry r where r.id = registry_id and r.team_id = any(${except.teams}::uuid[]))
        and (claimed_at is null or claimed_at < now() - ${claimSeconds} * interval '1 second')
      order by next_check_at limit ${max} for update skip locked)
    returning ft.id, ft.registry_id, r.team_id, ft.name, ft.tag, ft.requested_by`.rows<ClaimedTag>(
    queries,
    'claim checks of tags',
  )

/**
 * Stores what a check found. An event of the registry that came meanwhile leads to one more check.
 *
 * A new digest keeps the deliveries that led to it: those that requested the check, unless they reported another digest,
 * and those that reported this digest during the check.
 *
 * @returns whether pages show something else now, and the milliseconds until the next check
 */
export const storeCheck = (
  queries: Queries,
  id: string,
  { digest, requestedBy, error, intervalMs, blockedMs }: CheckResult,
) =>
  sql`with before as (select id, digest, error from crux.followed_tag where id = ${id} for update)
    update crux.followed_tag ft set claimed_at = null, checked_at = now(), error = ${error},
      digest = coalesce(${digest ?? null}, ft.digest),
      digest_at = case when ft.digest is distinct from coalesce(${digest ?? null}, ft.digest) then now()
        else ft.digest_at end,
      digest_deliveries = case
        when ft.digest is not distinct from coalesce(${digest ?? null}, ft.digest) then ft.digest_deliveries
        else array(select d.id from crux.registry_delivery d cross join jsonb_array_elements(d.images) as image
          where d.id = any(ft.requested_by)
            and coalesce(image ->> 'digest', case when d.id = any(${requestedBy}::uuid[]) then ${digest ?? null} end)
              = ${digest ?? null}
          group by d.id order by d.id) end,
      -- A check that failed is repeated for the same deliveries.
      requested_by = array(select delivery from unnest(ft.requested_by) as delivery
        where ${digest ?? null}::text is null or delivery <> all(${requestedBy}::uuid[]) order by delivery desc),
      failures = case when ${error}::text is null then 0 else ft.failures + 1 end,
      blocked_until = now() + ${blockedMs ?? null}::float8 * interval '1 millisecond',
      next_check_at = now() + interval '1 millisecond' * case
        when ${blockedMs ?? null}::float8 is not null then ${blockedMs ?? null}::float8 + random() * 1000
        when ft.pushed_at >= ft.claimed_at then ${spacingMs}
        -- The checks of tags that were followed at the same moment drift apart.
        else ${teamInterval(sql`select r.team_id from crux.registry r where r.id = ft.registry_id`, intervalMs)}
          * (case when ${error}::text is null then 1 else power(2, least(ft.failures, 3)) end)
          * (0.9 + random() * 0.2) end
    from before where ft.id = before.id
    returning (before.digest is distinct from ft.digest or before.error is distinct from ft.error) as changed,
      (before.digest is distinct from ft.digest) as has_new_digest,
      (before.digest is distinct from ft.digest and before.digest is not null) as replaced, ft.digest_at,
      ceil(extract(epoch from ft.next_check_at - now()) * 1000)::float8 as wait_ms`.first<{
    changed: boolean
    hasNewDigest: boolean
    /** The tag had another digest before. */
    replaced: boolean
    digestAt: Date
    waitMs: number
  }>(queries, 'store check of a tag')

/** A limit of requests counts for the whole registry: the checks of its other tags wait as well, spread by a tenth of their interval. */
export const blockRegistry = (queries: Queries, registryId: string, blockedMs: number, intervalMs: number) =>
  sql`update crux.followed_tag set
      blocked_until = greatest(blocked_until, now() + ${blockedMs}::float8 * interval '1 millisecond'),
      next_check_at = greatest(next_check_at,
        now() + interval '1 millisecond' * (${blockedMs}::float8 + random() / 10
          * ${teamInterval(sql`select team_id from crux.registry where id = ${registryId}`, intervalMs)}))
    where id in (select id from crux.followed_tag where registry_id = ${registryId} and claimed_at is null
      order by id for update)`.execute(queries, 'block checks of a registry')

export const selectRegistryName = (queries: Queries, registryId: string) =>
  sql`select name from crux.registry where id = ${registryId}`.value(queries, 'name of a registry')

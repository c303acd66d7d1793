import type { DeploymentEvent } from '@crux/contract'
import { nothing, type Queries, sql } from '../db/queries.ts'

export type EventType = DeploymentEvent['type']
/** A row to insert: `value` is the part of the wire's event that its type names. */
export type NewEvent = {
  type: EventType
  value: unknown
  at?: Date
  instanceId?: string | null
  agentSequence?: number | null
}
export type EventRow = {
  position: number
  attempt: number
  createdAt: Date
  type: EventType
  instanceId: string | null
  /** Only this file writes the table; the types of the values are those of the wire. */
  value: never
}

/**
 * Appends in the given order. The caller holds the lock of the deployment's row, so that positions of one deployment
 * become visible in order.
 *
 * @returns the last position, undefined when all of them were there already
 */
export async function appendEvents(
  queries: Queries,
  deploymentId: string,
  number: number,
  events: readonly NewEvent[],
): Promise<number | undefined> {
  if (events.length === 0) return undefined
  const rows = events.map((event, index) => ({
    index,
    type: event.type,
    value: event.value,
    at: event.at ?? null,
    instance_id: event.instanceId ?? null,
    agent_sequence: event.agentSequence ?? null,
  }))
  const last = await sql`with added as (
      insert into crux.deployment_event (deployment_id, attempt, agent_sequence, created_at, type, instance_id, value)
      select ${deploymentId}, ${number}, e.agent_sequence, coalesce(e.at, now()), e.type, e.instance_id, e.value
      from jsonb_to_recordset(${withoutZeros(JSON.stringify(rows))}::jsonb) as e(index int, type text, value jsonb,
        at timestamptz, instance_id text, agent_sequence bigint)
      order by e.index
      on conflict (deployment_id, attempt, agent_sequence) do nothing
      returning position)
    select max(position) as position from added`.rows<{ position: string | null }>(queries, 'append deployment events')
  const position = last[0]?.position
  return position === null || position === undefined ? undefined : Number(position)
}

/** An order clause has to use `e.position`: `position` alone is the computed column, which no index has. */
const columns = sql`position::float8 as position, attempt, created_at, type, instance_id, value`

/** Events of one attempt after a position, in order. */
export const readEvents = (
  queries: Queries,
  deploymentId: string,
  number: number,
  range: { after: number; upTo?: number },
) =>
  sql`select ${columns} from crux.deployment_event e
    where deployment_id = ${deploymentId} and attempt = ${number} and position > ${range.after}
    and position <= ${range.upTo ?? Number.MAX_SAFE_INTEGER}
    order by e.position`.rows<EventRow>(queries, 'read deployment events')

/** The next events of one attempt or of all, in the order of attempts, after an event that was read before. */
export const readEventsAfter = (
  queries: Queries,
  deploymentId: string,
  page: { try: number | undefined; after: Pick<EventRow, 'attempt' | 'position'> | undefined; take: number },
) =>
  sql`select ${columns} from crux.deployment_event e
    where deployment_id = ${deploymentId}
      and (attempt, position) > (${page.after?.attempt ?? 0}, ${page.after?.position ?? 0}) ${ofAttempt(page.try)}
    order by attempt, e.position limit ${page.take}`.rows<EventRow>(
    queries,
    page.try === undefined ? 'deployment events after' : 'deployment events of an attempt after',
  )

/** One page counted from the newest event; the page itself is in ascending order. */
export async function readEventPage(
  queries: Queries,
  deploymentId: string,
  page: { skip: number; take: number; try: number | undefined },
): Promise<{ items: EventRow[]; total: number }> {
  const rows = await sql`select ${columns} from crux.deployment_event e
    where deployment_id = ${deploymentId} ${ofAttempt(page.try)}
    order by attempt desc, e.position desc offset ${page.skip} limit ${page.take}`.rows<EventRow>(
    queries,
    page.try === undefined ? 'deployment event page' : 'deployment event page of an attempt',
  )
  const { total } = await sql`select count(*)::int as total from crux.deployment_event
    where deployment_id = ${deploymentId} ${ofAttempt(page.try)}`.one<{ total: number }>(queries)
  return { items: rows.reverse(), total }
}

const ofAttempt = (attempt: number | undefined) => (attempt === undefined ? nothing : sql`and attempt = ${attempt}`)

/** Only the last of the many steps of a pull is kept once the release has ended. */
export const dropPullSteps = (queries: Queries, deploymentId: string, number: number) =>
  sql`delete from crux.deployment_event e where deployment_id = ${deploymentId} and attempt = ${number}
    and type = 'container-progress'
    and position < (select max(position) from crux.deployment_event l
    where l.deployment_id = ${deploymentId} and l.attempt = ${number}
      and l.type = 'container-progress' and l.instance_id is not distinct from e.instance_id)`.execute(queries)

export function toEvent(row: EventRow): DeploymentEvent {
  const event: DeploymentEvent = {
    type: row.type,
    createdAt: row.createdAt.toISOString(),
    try: row.attempt,
    sequence: row.position,
    ...(row.instanceId && { instanceId: row.instanceId }),
  }
  const { value } = row
  switch (row.type) {
    case 'log':
      return { ...event, log: value }
    case 'deployment-status':
      return Object.assign(event, value)
    case 'container-state':
      return { ...event, containerState: value }
    case 'container-progress':
      return { ...event, containerProgress: value }
    case 'phase':
      return { ...event, phase: value }
  }
}

/** An event of the server itself, in addition to the agent's journal. */
export const logEvent = (line: string, level: 'info' | 'warn' | 'error' = 'info'): NewEvent => ({
  type: 'log',
  value: { log: [line], level },
})
export const statusEvent = (
  deploymentStatus: string,
  reason?: string | null,
  previousRestored?: boolean,
): NewEvent => ({
  type: 'deployment-status',
  value: { deploymentStatus, ...(reason && { reason }), ...(previousRestored !== undefined && { previousRestored }) },
})

/** PostgreSQL cannot store null characters, but containers may print them. */
const withoutZeros = (json: string) =>
  json.includes('\\u0000') ? json.replace(/(?<!\\)((?:\\\\)*)\\u0000/g, '$1') : json

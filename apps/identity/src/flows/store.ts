import { randomUUID } from 'node:crypto'
import { isUuid } from '@crux/service-kit'
import { and, eq, sql } from 'drizzle-orm'
import type { Executor } from '../db/database.ts'
import { type Flow, type FlowKind, flows } from '../db/schema.ts'
import { csrfHash } from '../http/csrf.ts'
import type { RequestContext } from '../http/request-context.ts'
import { lifespanMs } from './flow.ts'

export type NewFlow = Pick<Flow, 'kind' | 'type' | 'requestUrl' | 'returnTo' | 'csrfHash' | 'ui'> &
  Partial<Pick<Flow, 'state' | 'active' | 'context' | 'identityId' | 'expiresAt'>>

export type FlowChange = Partial<
  Pick<Flow, 'ui' | 'state' | 'active' | 'csrfHash' | 'attempts' | 'context' | 'returnTo'>
>

/** The form of a flow, and the context to which its methods may have added data. */
export type FlowForm = Pick<Flow, 'ui' | 'context'>

/** The fields of a new flow that follow from its request. A flow that replaces another one keeps its addresses. */
export function newFlow<K extends FlowKind>(
  ctx: RequestContext,
  kind: K,
  from: Pick<Flow, 'type' | 'returnTo'> & { requestUrl?: string },
) {
  const { type, returnTo, requestUrl = ctx.url } = from
  return { kind, type, returnTo, requestUrl, csrfHash: type === 'browser' ? csrfHash(ctx.ensureCsrfToken()) : null }
}

/** Flow ids are completely random, because any client that knows the id of an API flow may use the flow. */
export async function insertFlow(tx: Executor, flow: NewFlow): Promise<Flow> {
  const at = new Date()
  const [row] = await tx
    .insert(flows)
    .values({
      id: randomUUID(),
      state: 'choose_method',
      issuedAt: at,
      expiresAt: new Date(at.getTime() + lifespanMs[flow.kind]),
      ...flow,
    })
    .returning()
  if (!row) throw new Error('the flow was not inserted')
  return row
}

export async function findFlow(db: Executor, kind: FlowKind, id: unknown): Promise<Flow | undefined> {
  if (!isUuid(id)) return undefined
  const [row] = await db
    .select()
    .from(flows)
    .where(and(eq(flows.id, id), eq(flows.kind, kind)))
  return row
}

export async function updateFlow(tx: Executor, flow: Flow, change: FlowChange): Promise<Flow> {
  const [row] = await tx
    .update(flows)
    .set({ ...change, updatedAt: new Date() })
    .where(eq(flows.id, flow.id))
    .returning()
  return row ?? flow
}

/**
 * Counts an attempt at the code of the flow.
 *
 * @returns the number of the attempt since the code was sent, from 1
 */
export async function countAttempt(db: Executor, flow: Flow): Promise<number> {
  const [row] = await db
    .update(flows)
    .set({ attempts: sql`${flows.attempts} + 1` })
    .where(eq(flows.id, flow.id))
    .returning({ attempts: flows.attempts })
  return row?.attempts ?? Number.POSITIVE_INFINITY
}

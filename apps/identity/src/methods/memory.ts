import { sql } from 'drizzle-orm'
import type { App } from '../app/app.ts'
import type { Flow, FlowContext } from '../db/schema.ts'

/** The state that a method stores in a flow between two requests. */
type Memory = Record<string, unknown>

/** The caller names the type of its own state, of which any part may be missing. */
export function recall<M extends object = Memory>(context: FlowContext, method: string): Partial<M> {
  return (context.methods?.[method] ?? {}) as Partial<M>
}

/** Adds values to the state. The flow saves the context together with the form. */
export function remember(context: FlowContext, method: string, values: Memory): void {
  context.methods = { ...context.methods, [method]: { ...recall(context, method), ...values } }
}

export function forget(context: FlowContext, method: string): void {
  const { [method]: _forgotten, ...others } = context.methods ?? {}
  context.methods = others
}

/**
 * Removes the state of a method from the flow and returns it. Of two concurrent requests, one gets the state and the other gets none. This is used
 * for challenges, which must work only once.
 */
export async function takeMemory<M extends object = Memory>(app: App, flow: Flow, method: string): Promise<Partial<M>> {
  const { rows } = await app.database.db.execute<{ memory: Partial<M> | null }>(sql`
    update identity.flows f set context = f.context #- array['methods', ${method}]
    from (select id, context #> array['methods', ${method}] as memory from identity.flows
          where id = ${flow.id} for update) before
    where f.id = before.id and before.memory is not null returning before.memory`)
  forget(flow.context, method)
  return rows[0]?.memory ?? {}
}

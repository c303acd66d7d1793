import { sql } from 'drizzle-orm'
import type { App } from '../context.ts'
import type { Flow } from '../flows/flow-record.ts'
import type { FlowContext } from '../flows/flow-types.ts'

/** What a method remembers in a flow between two answers. */
type Memory = Record<string, unknown>

export function recall(context: FlowContext, method: string): Memory {
  return context.methods?.[method] ?? {}
}

/** Adds to it. The frame saves the context with the form. */
export function remember(context: FlowContext, method: string, values: Memory): void {
  context.methods = { ...context.methods, [method]: { ...recall(context, method), ...values } }
}

export function forget(context: FlowContext, method: string): void {
  const { [method]: _forgotten, ...others } = context.methods ?? {}
  context.methods = others
}

/**
 * Takes what a method remembered out of the flow, for good: of two requests at the same time one gets it, the other finds
 * nothing. For challenges, which must prove something once only.
 */
export async function takeOut(app: App, flow: Flow, method: string): Promise<Memory> {
  const { rows } = await app.database.db.execute<{ memory: Memory | null }>(sql`
    update identity.flows f set context = f.context #- array['methods', ${method}]
    from (select id, context #> array['methods', ${method}] as memory from identity.flows
          where id = ${flow.id} for update) before
    where f.id = before.id and before.memory is not null returning before.memory`)
  forget(flow.context, method)
  return rows[0]?.memory ?? {}
}

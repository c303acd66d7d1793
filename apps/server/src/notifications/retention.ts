import type { App } from '../context.ts'
import { deleteInBatches } from '../db/delete-in-batches.ts'
import { deleteOldDeliveries, selectCrowded, trimDeliveries } from './delivery-store.ts'

const days = 30
/** The deliveries that are kept of one notification. */
const kept = 1_000
const batch = 5_000
/** A job that takes longer counts as failed; the rest is deleted an hour later. */
const jobMs = 240_000

/** Deletes old deliveries every hour. */
export function cleanDeliveries(app: App): void {
  app.jobs.schedule('notification-deliveries-clean', '17 * * * *', () => deleteDeliveries(app))
}

export async function deleteDeliveries({ database }: Pick<App, 'database'>): Promise<void> {
  const { pool } = database
  const end = Date.now() + jobMs
  await deleteInBatches(batch, end, () => deleteOldDeliveries(pool, { days, max: batch }))
  for (const id of await selectCrowded(pool, kept))
    await deleteInBatches(batch, end, () => trimDeliveries(pool, id, { kept, max: batch }))
}

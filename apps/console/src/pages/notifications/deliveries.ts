import type { ResponseOf } from '@crux/contract'
import { keepPreviousData } from '@tanstack/react-query'
import { apiQuery } from '../../api/client.ts'
import type { PageOfList } from '../../table/use-paged-search.ts'

export type Delivery = ResponseOf<'notifications.deliveries'>['items'][number]
export const firstPage: PageOfList = { skip: 0, take: 10 }

const pollMs = { min: 2_000, idle: 15_000 }

/**
 * The time until the log is read again: soon while a delivery is due, and slowly otherwise, because an event may add one at any time.
 * A page in the background does not ask at all.
 */
export function getRefetchMs(deliveries: readonly Delivery[], now: number): number {
  const waits = deliveries
    .filter(({ status }) => status === 'pending')
    .map(({ nextAttemptAt }) => (nextAttemptAt ? Date.parse(nextAttemptAt) - now : 0))
  return Math.min(pollMs.idle, Math.max(pollMs.min, ...(waits.length > 0 ? [Math.min(...waits)] : [pollMs.idle])))
}

/** One page of the delivery log of a notification. */
export const deliveriesQuery = (
  params: { teamSlug: string; notificationId: string },
  page: PageOfList = firstPage,
) => ({
  ...apiQuery('notifications.deliveries', { params, query: page }),
  placeholderData: keepPreviousData,
})

import type { Container } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { apiQuery } from '../../api/client.ts'
import { stoppedBy } from './stopped-by.ts'

/** Fetches the node's events to find which user stopped a container. They are stored, so each server has them. */
export function useStopper(teamSlug: string, nodeId: string, containers: readonly Container[] | null) {
  const exited = containers?.filter(({ state }) => state === 'exited') ?? []
  const from = useMemo(() => new Date(Date.now() - eventsMs), [])
  const events = useQuery({
    ...apiQuery('nodes.audit', {
      params: { teamSlug, nodeId },
      query: {
        from,
        to: new Date(from.getTime() + 2 * eventsMs),
        skip: 0,
        take: 200,
        filterEventType: 'containerCommand',
      },
    }),
    enabled: exited.length > 0,
    // A stop is stored when the engine has answered, which is about when the list shows it.
    refetchInterval: exited.some(({ status }) => /second/.test(status ?? '')) ? 2_000 : false,
  })
  const { data } = events
  return (container: Container) => (data ? stoppedBy(container, data.items) : undefined)
}
/** Older stops are shown as the engine words them. */
const eventsMs = 30 * 24 * 3_600_000

import type { DeploymentEvent } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import { client, queryClient, queryKey } from '../../api/client.ts'
import { useChannel } from '../../api/live.ts'
import { addEvents, noProgress, type Progress } from './progress.ts'

type Params = { teamSlug: string; deploymentId: string }

/**
 * The newest release live, or an earlier one from the stored events. The live list is asked for again after every reconnect, so a
 * reload or a lost connection does not change what is shown.
 */
export function useProgress(
  params: Params,
  release: number | undefined,
): { progress: Progress; loading: boolean; error: unknown; retry: () => void } {
  const [newest, setNewest] = useState<Progress>(noProgress)
  const [asked, setAsked] = useState(false)
  const status = useRef<string>(undefined)
  const earlier = release !== undefined && release !== newest.try

  useChannel('deployment', params, {
    ready: (channel) => channel.send('fetch-deployment-events', {}),
    'deployment-event-list': (events) => {
      setAsked(true)
      setNewest((before) => addEvents(before, events))
    },
  })
  const stored = useQuery({
    queryKey: [...queryKey('deployments.log', { params }), release],
    queryFn: ({ signal }) => readAll(params, release ?? 1, signal),
    enabled: asked && earlier,
    staleTime: Number.POSITIVE_INFINITY,
  })

  const now = `${newest.try} ${newest.status}`
  useEffect(() => {
    if (status.current !== undefined && status.current !== now)
      for (const operation of [
        'deployments.get',
        'deployments.releases',
        'deployments.preview',
        'deployments.list',
        // The sidebar counts what failed.
        'dashboard.get',
      ] as const)
        void queryClient.invalidateQueries({
          queryKey:
            operation === 'deployments.list' || operation === 'dashboard.get'
              ? [operation]
              : queryKey(operation, { params }),
        })
    status.current = now
  }, [now, params])

  const past = useMemo(() => addEvents({ ...noProgress, try: release ?? 0 }, stored.data ?? []), [stored.data, release])
  return {
    progress: earlier ? past : newest,
    // Live events before the complete list lack the beginning, and so the status.
    loading: earlier ? stored.isPending : !asked || (newest.events.length > 0 && newest.status === 'preparing'),
    error: earlier ? stored.error : null,
    retry: () => void stored.refetch(),
  }
}

/** Pages count from the newest event; each holds at most a thousand. */
async function readAll(params: Params, release: number, signal: AbortSignal): Promise<DeploymentEvent[]> {
  const events: DeploymentEvent[] = []
  for (;;) {
    const query = { skip: events.length, take: 1_000, try: release }
    const page = await client.call('deployments.log', { params, query }, { signal })
    events.unshift(...page.items)
    if (page.items.length === 0 || events.length >= page.total) return events
  }
}

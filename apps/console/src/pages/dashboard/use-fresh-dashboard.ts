import type { ResponseOf } from '@crux/contract'
import { useEffect, useRef } from 'react'
import { queryClient, queryKey } from '../../api/client.ts'
import { useChannel } from '../../api/live.ts'

/**
 * Reads what needs attention and the days again when the counters say that a deployment has started or ended, and when
 * an agent comes or goes. Other changes are seen with the next regular request.
 */
export function useFreshDashboard(teamSlug: string, dashboard: ResponseOf<'dashboard.get'> | undefined): void {
  const params = { teamSlug }
  const invalidate = (operation: 'dashboard.attention' | 'dashboard.activity') =>
    void queryClient.invalidateQueries({ queryKey: queryKey(operation, { params }) })
  const counted = dashboard && `${dashboard.failedDeployments} ${dashboard.more.inProgressDeployments}`
  const known = useRef(counted)
  useEffect(() => {
    const before = known.current
    known.current = counted
    if (before === undefined || before === counted) return
    invalidate('dashboard.attention')
    invalidate('dashboard.activity')
  })
  useChannel('nodes', params, { event: () => invalidate('dashboard.attention') })
}

import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { apiQuery, queryClient, queryKey } from '../api/client.ts'
import { valueAt } from '../api/unknown-data.ts'

/** No channel covers all deployments of a team, so the counts are polled, but not in a hidden browser tab. */
const refetchIntervalMs = 15_000

/** The numbers beside the entries of the sidebar. A list of deployments that counts others makes them be read again at once. */
export function useTeamCounts(teamSlug: string): ResponseOf<'dashboard.get'> | undefined {
  useEffect(() => {
    const key = queryKey('dashboard.get', { params: { teamSlug } })
    return queryClient.getQueryCache().subscribe(({ type, query }) => {
      const { dataUpdatedAt } = query.state
      if (type !== 'updated' || !countsAll(query.queryKey, teamSlug)) return
      const counts = queryClient.getQueryData<ResponseOf<'deployments.list'>>(query.queryKey)?.counts
      const known = queryClient.getQueryState<ResponseOf<'dashboard.get'>>(key)
      if (!counts || !known?.data || known.fetchStatus === 'fetching' || dataUpdatedAt <= known.dataUpdatedAt) return
      const { failedDeployments, more } = known.data
      if ((counts.failed ?? 0) !== failedDeployments || (counts['in-progress'] ?? 0) !== more.inProgressDeployments)
        void queryClient.invalidateQueries({ queryKey: key })
    })
  }, [teamSlug])
  const query = apiQuery('dashboard.get', { params: { teamSlug } })
  return useQuery({ ...query, staleTime: refetchIntervalMs, refetchInterval: refetchIntervalMs }).data
}

/** A list of this team's deployments whose counts follow no filter. */
function countsAll([operation, params, filters]: readonly unknown[], teamSlug: string): boolean {
  if (operation !== 'deployments.list' || valueAt(params, 'teamSlug') !== teamSlug) return false
  return !['nodeId', 'filter', 'configBundleId'].some((name) => valueAt(filters, name))
}

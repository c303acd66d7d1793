import type { ResponseOf } from '@crux/contract'
import { applyLiveUpdate, queryKey } from '../api/client.ts'
import { useChannel } from '../api/live.ts'

/** Keeps the states of the team's nodes fresh on every page, and with it the live channel open. */
export function NodesFollower({ teamSlug }: { teamSlug: string }) {
  const key = queryKey('nodes.list', { params: { teamSlug } })
  useChannel(
    'nodes',
    { teamSlug },
    {
      event: ({ error: _error, ...change }) => {
        applyLiveUpdate<ResponseOf<'nodes.list'>>(key, (nodes) =>
          nodes.map((node) => (node.id === change.id ? { ...node, ...change } : node)),
        )
        applyLiveUpdate<ResponseOf<'nodes.get'>>(
          queryKey('nodes.get', { params: { teamSlug, nodeId: change.id } }),
          (node) => ({
            ...node,
            ...change,
          }),
        )
      },
    },
  )
  return null
}

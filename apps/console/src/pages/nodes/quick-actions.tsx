import { useQuery } from '@tanstack/react-query'
import { Server } from 'lucide-react'
import { apiQuery } from '../../api/client.ts'
import { State } from '../../components/State.tsx'
import type { QuickActionSource } from '../../frame/quick-actions.ts'
import { links } from '../../routing/links.ts'

export const nodeQuickActions: QuickActionSource = {
  area: 'nodes',
  icon: Server,
  create: { operation: 'nodes.create', label: 'palette:newNode', link: (teamSlug) => links.nodes(teamSlug, 'new') },
  useQuickActions: (teamSlug) =>
    (useQuery(apiQuery('nodes.list', { params: { teamSlug } })).data ?? []).map((row) => ({
      id: row.id,
      searchText: [row.name, row.address ?? ''],
      link: links.node(teamSlug, row.id),
      trailing: <State kind="node" value={row.status} />,
    })),
}

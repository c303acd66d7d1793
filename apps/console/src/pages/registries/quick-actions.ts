import { useQuery } from '@tanstack/react-query'
import { Database } from 'lucide-react'
import { apiQuery } from '../../api/client.ts'
import type { QuickActionSource } from '../../frame/quick-actions.ts'
import { links } from '../../routing/links.ts'

export const registryQuickActions: QuickActionSource = {
  area: 'registries',
  icon: Database,
  create: {
    operation: 'registries.create',
    label: 'palette:newRegistry',
    link: (teamSlug) => links.registries(teamSlug, 'new'),
  },
  useQuickActions: (teamSlug) =>
    (useQuery(apiQuery('registries.list', { params: { teamSlug } })).data ?? []).map((row) => ({
      id: row.id,
      searchText: [row.name, row.url],
      link: links.registry(teamSlug, row.id),
    })),
}

import { useQuery } from '@tanstack/react-query'
import { HardDrive } from 'lucide-react'
import { apiQuery } from '../../api/client.ts'
import type { QuickActionSource } from '../../frame/quick-actions.ts'
import { links } from '../../routing/links.ts'

export const storageQuickActions: QuickActionSource = {
  area: 'storages',
  icon: HardDrive,
  create: {
    operation: 'storages.create',
    label: 'palette:newStorage',
    link: (teamSlug) => links.storages(teamSlug, 'new'),
  },
  useQuickActions: (teamSlug) =>
    (useQuery(apiQuery('storages.list', { params: { teamSlug } })).data ?? []).map((row) => ({
      id: row.id,
      searchText: [row.name, row.url],
      link: links.storage(teamSlug, row.id),
    })),
}

import { useQuery } from '@tanstack/react-query'
import { SlidersHorizontal } from 'lucide-react'
import { apiQuery } from '../../api/client.ts'
import type { QuickActionSource } from '../../frame/quick-actions.ts'
import { links } from '../../routing/links.ts'

export const bundleQuickActions: QuickActionSource = {
  area: 'config-bundles',
  icon: SlidersHorizontal,
  create: {
    operation: 'config-bundles.create',
    label: 'palette:newBundle',
    link: (teamSlug) => links.configBundles(teamSlug, 'new'),
  },
  useQuickActions: (teamSlug) =>
    (useQuery(apiQuery('config-bundles.list', { params: { teamSlug } })).data ?? []).map((row) => ({
      id: row.id,
      searchText: [row.name],
      link: links.configBundle(teamSlug, row.id),
    })),
}

import { Users } from 'lucide-react'
import { useMe } from '../../api/me.ts'
import type { QuickActionSource } from '../../frame/quick-actions.ts'
import { links } from '../../routing/links.ts'

export const teamQuickActions: QuickActionSource = {
  area: 'teams',
  icon: Users,
  needsNoTeam: true,
  useQuickActions: () =>
    (useMe()?.teams ?? []).map(({ id, name, slug }) => ({ id, searchText: [name, slug], link: links.teamHome(slug) })),
}

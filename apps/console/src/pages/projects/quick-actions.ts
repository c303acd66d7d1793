import { useQuery } from '@tanstack/react-query'
import { Boxes } from 'lucide-react'
import { apiQuery } from '../../api/client.ts'
import type { QuickActionSource } from '../../frame/quick-actions.ts'
import { links } from '../../routing/links.ts'

export const projectQuickActions: QuickActionSource = {
  area: 'projects',
  icon: Boxes,
  create: {
    operation: 'projects.create',
    label: 'palette:newProject',
    link: (teamSlug) => links.projects(teamSlug, 'new'),
  },
  useQuickActions: (teamSlug) =>
    (useQuery(apiQuery('projects.list', { params: { teamSlug } })).data ?? []).map((row) => ({
      id: row.id,
      searchText: [row.name],
      link: links.project(teamSlug, row.id),
    })),
}

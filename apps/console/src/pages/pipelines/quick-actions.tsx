import { useQuery } from '@tanstack/react-query'
import { Workflow } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { State } from '../../components/State.tsx'
import type { QuickActionSource } from '../../frame/quick-actions.ts'
import { links } from '../../routing/links.ts'

export const pipelineQuickActions: QuickActionSource = {
  area: 'pipelines',
  icon: Workflow,
  create: [
    { operation: 'pipelines.create', label: 'palette:newPipeline', link: (slug) => links.pipelines(slug, 'new') },
  ],
  useQuickActions: (teamSlug, typed) => {
    const { t } = useTranslation('palette')
    const pipelines = useQuery(apiQuery('pipelines.list', { params: { teamSlug } })).data ?? []
    const pages = pipelines.map(({ id, name, repository, lastRun }) => ({
      id,
      searchText: [name, repository.organization, repository.project],
      link: links.pipeline(teamSlug, id),
      trailing: lastRun && <State kind="pipeline" value={lastRun.status} />,
    }))
    if (typed.trim() === '') return pages
    const triggers = pipelines.map(({ id, name }) => ({
      id: `trigger ${id}`,
      searchText: [t('trigger', { name })],
      link: links.pipeline(teamSlug, id, 'trigger'),
    }))
    return [...pages, ...triggers]
  },
}

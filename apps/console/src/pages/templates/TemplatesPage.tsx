import { useQuery } from '@tanstack/react-query'
import { LayoutTemplate } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useTeamOrNone } from '../../api/me.ts'
import { EmptyState } from '../../components/EmptyState.tsx'
import { PageHeader } from '../../components/PageHeader.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonCards } from '../../components/Skeletons.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { FilteredList } from '../../table/FilteredList.tsx'
import { type Template, TemplateCards } from './TemplateCards.tsx'

const TemplateForm = lazyComponent(async () => (await import('../../forms/template-form.tsx')).TemplateForm)

/** Templates to pick from; each adds a project to the current team. */
export function TemplatesPage() {
  const { t } = useTranslation('templates')
  const team = useTeamOrNone()
  const query = useQuery(apiQuery('templates.list'))
  const [chosen, setChosen] = useState<Template | null>(null)
  return (
    <>
      <PageHeader title={t('title')} subtitle={team ? t('sub', { team: team.name }) : t('noTeam')} />
      <QueryView
        query={query}
        skeleton={<SkeletonCards filters />}
        empty={<EmptyState icon={LayoutTemplate} title={t('empty.title')} text={t('empty.text')} />}
      >
        {(templates) => (
          <FilteredList
            rows={templates}
            search={t('filter')}
            searchText={({ name, description, technologies }) => [name, description, ...technologies]}
          >
            {(found) => (
              <TemplateCards templates={found} disabledReason={team ? null : t('noTeam')} onAdd={setChosen} />
            )}
          </FilteredList>
        )}
      </QueryView>
      {chosen && team && <TemplateForm team={team} template={chosen} onClose={() => setChosen(null)} />}
    </>
  )
}

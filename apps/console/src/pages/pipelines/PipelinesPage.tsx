import { pipelineStatuses, pipelineTypes, type ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Play, Workflow } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied, useTeam } from '../../api/me.ts'
import { AnimalIcon } from '../../components/AnimalIcon.tsx'
import { Button } from '../../components/Button.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { State } from '../../components/State.tsx'
import { Pill } from '../../components/Tag.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { ListPage } from '../../table/ListPage.tsx'
import { nameColumn } from '../../table/named-columns.tsx'
import { RunStarter } from './RunStarter.tsx'
import { usePipelinesLive } from './use-pipelines-live.ts'

const PipelineForm = lazyComponent(async () => (await import('../../forms/pipeline-form.tsx')).PipelineForm)

type Pipeline = ResponseOf<'pipelines.list'>[number]

/** The pipelines of the team with the state of their newest runs. */
export function PipelinesPage() {
  const { t } = useTranslation('pipelines')
  const { slug } = useTeam()
  const navigate = useNavigate()
  usePipelinesLive(slug)
  const query = useQuery(apiQuery('pipelines.list', { params: { teamSlug: slug } }))
  const denied = { create: useDenied('pipelines.create'), trigger: useDenied('pipelines.trigger') }
  const columns = useColumns(slug)
  return (
    <ListPage
      query={query}
      title={t('title')}
      subtitle={(pipelines) => t('sub', { count: pipelines.length })}
      add={{
        label: t('add'),
        denied: denied.create,
        form: (onClose) => <PipelineForm teamSlug={slug} onClose={onClose} />,
      }}
      empty={{ icon: Workflow, title: t('empty.title'), text: t('empty.text') }}
      search={t('filter')}
      searchText={(row) => [row.name, toPath(row), row.trigger, row.description]}
      choice={{
        label: t('types'),
        of: (row) => row.type,
        values: pipelineTypes,
        optionLabel: (value) => t(`type.${value}`),
      }}
      columns={columns}
      initialSort={{ column: 'name', direction: 'asc' }}
      tint={(row) => (row.lastRun?.status === 'failed' ? 'failed' : undefined)}
      rowButton={(row) => (
        <Button
          size="sm"
          icon={Play}
          aria-label={t('triggerNamed', { name: row.name })}
          disabledReason={denied.trigger}
          onClick={() => void navigate(links.pipeline(slug, row.id, 'trigger'))}
        >
          {t('trigger.action')}
        </Button>
      )}
    />
  )
}

function useColumns(slug: string): Column<Pipeline>[] {
  const { t } = useTranslation('pipelines')
  return [
    {
      id: 'status',
      header: t('column.status'),
      narrow: 'lead',
      sort: (row) => (row.lastRun ? pipelineStatuses.indexOf(row.lastRun.status) : -1),
      cell: ({ lastRun }) =>
        lastRun ? (
          <State kind="pipeline" value={lastRun.status} reason={lastRun.reason} />
        ) : (
          <span className="text-ink-3">{t('noRun')}</span>
        ),
    },
    nameColumn(
      t('column.name'),
      (row) => links.pipeline(slug, row.id),
      (row) => (row.icon ? <AnimalIcon name={row.icon} /> : <Workflow aria-hidden />),
    ),
    {
      id: 'repository',
      header: t('column.repository'),
      sort: toPath,
      cell: (row) => <code className="text-ink-2">{toPath(row)}</code>,
    },
    {
      id: 'type',
      header: t('column.type'),
      sort: (row) => row.type,
      cell: (row) => <Pill>{t(`type.${row.type}`)}</Pill>,
    },
    {
      id: 'trigger',
      header: t('column.trigger'),
      narrow: 'none',
      sort: (row) => row.trigger,
      cell: (row) => (
        <span className="text-ink-2" data-no-value={!row.trigger || undefined}>
          {row.trigger || '-'}
        </span>
      ),
    },
    {
      id: 'by',
      header: t('column.startedBy'),
      narrow: 'none',
      grow: true,
      cell: ({ lastRun }) => lastRun && <RunStarter run={lastRun} />,
    },
    {
      id: 'last',
      header: t('column.lastRun'),
      align: 'right',
      narrow: 'end',
      sort: (row) => row.lastRun?.startedAt,
      cell: (row) => <RelativeTime at={row.lastRun?.startedAt} />,
    },
  ]
}

const toPath = ({ repository }: Pick<Pipeline, 'repository'>) => `${repository.organization}/${repository.project}`

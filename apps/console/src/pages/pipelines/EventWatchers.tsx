import { Eye, Pencil, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { Pill } from '../../components/Tag.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { timeColumn } from '../../table/named-columns.tsx'
import type { EventWatcher, PipelineDetails } from './run-queries.ts'

const EventWatcherForm = lazyComponent(
  async () => (await import('../../forms/event-watcher-form.tsx')).EventWatcherForm,
)

/** What starts the pipeline by itself: pushes and pulls that a registry reports. */
export function EventWatchers({ teamSlug, pipeline }: { teamSlug: string; pipeline: PipelineDetails }) {
  const { t } = useTranslation(['pipelines', 'common'])
  const [form, setForm] = useState<{ watcher?: EventWatcher } | null>(null)
  const params = { teamSlug, pipelineId: pipeline.id }
  const denied = {
    create: useDenied('pipelines.create-event-watcher'),
    update: useDenied('pipelines.update-event-watcher'),
  }
  const remove = useCall('pipelines.delete-event-watcher', { stale: [queryKey('pipelines.get', { params })] })
  const columns = useColumns(teamSlug)
  const add = (
    <Button size="sm" icon={Plus} disabledReason={denied.create} onClick={() => setForm({})}>
      {t('watchers.add')}
    </Button>
  )
  const ask = ({ id, name }: EventWatcher) =>
    void remove.ask(
      {
        title: t('watchers.delete.title', { name }),
        text: t('watchers.delete.text'),
        action: t('watchers.delete.action'),
        danger: true,
      },
      { params: { ...params, eventWatcherId: id } },
    )
  const { eventWatchers } = pipeline
  return (
    <>
      {eventWatchers.length === 0 ? (
        <EmptyState icon={Eye} title={t('watchers.empty')} text={t('watchers.emptyText')} action={add} />
      ) : (
        <Box title={t('watchers.title')} trailing={eventWatchers.length} actions={add}>
          <DataTable
            flush
            label={t('watchers.title')}
            rows={eventWatchers}
            columns={columns}
            rowKey={(watcher) => watcher.id}
            actions={(watcher) => [
              {
                id: 'edit',
                label: t('common:edit'),
                icon: Pencil,
                inline: true,
                disabledReason: denied.update,
                run: () => setForm({ watcher }),
              },
              {
                id: 'delete',
                label: t('common:delete'),
                icon: Trash2,
                inline: true,
                danger: true,
                disabledReason: remove.denied,
                run: () => ask(watcher),
              },
            ]}
          />
        </Box>
      )}
      {form && (
        <EventWatcherForm
          teamSlug={teamSlug}
          pipeline={pipeline}
          watcher={form.watcher}
          onClose={() => setForm(null)}
        />
      )}
    </>
  )
}

function useColumns(teamSlug: string): Column<EventWatcher>[] {
  const { t } = useTranslation('pipelines')
  return [
    {
      id: 'name',
      header: t('column.watcher'),
      narrow: 'lead',
      sort: (watcher) => watcher.name,
      cell: (watcher) => <span className="font-strong">{watcher.name}</span>,
    },
    {
      id: 'event',
      header: t('column.event'),
      sort: (watcher) => watcher.event,
      cell: (watcher) => <Pill>{t(`event.${watcher.event}`)}</Pill>,
    },
    {
      id: 'registry',
      header: t('column.registry'),
      sort: (watcher) => watcher.registry.name,
      cell: ({ registry }) => <TextLink {...links.registry(teamSlug, registry.id)}>{registry.name}</TextLink>,
    },
    {
      id: 'filter',
      header: t('column.filter'),
      grow: true,
      cell: ({ filters }) =>
        filters.imageNameStartsWith ? (
          <code className="max-md:wrap-anywhere">{filters.imageNameStartsWith}*</code>
        ) : (
          <span className="text-ink-2">{t('watchers.allImages')}</span>
        ),
    },
    timeColumn('created', t('column.created'), (watcher) => watcher.createdAt),
  ]
}

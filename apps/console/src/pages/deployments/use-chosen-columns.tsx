import type { Deployment } from '@crux/contract'
import { ArrowDown } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { useTranslation } from 'react-i18next'
import { links } from '../../routing/links.ts'
import { createPersistedStore } from '../../stores/create-store.ts'
import type { Column } from '../../table/columns.ts'
import { useDeploymentColumns } from './deployment-columns.tsx'
import { QueuePosition } from './QueuePosition.tsx'

const optional = ['version', 'node', 'prefix', 'outcome', 'updated', 'by'] as const
type Optional = (typeof optional)[number]

const hidden = createPersistedStore<readonly Optional[]>('crux-deployment-columns', [], (raw) =>
  Array.isArray(raw) ? optional.filter((id) => raw.includes(id)) : undefined,
)

/** The columns of the list of all deployments, without those that the user has hidden. */
export function useChosenColumns(teamSlug: string) {
  const { t } = useTranslation(['deployments', 'common'])
  const away = useSyncExternalStore(hidden.subscribe, hidden.get)
  const { status, project, version, node, prefix, outcome, updated } = useDeploymentColumns(teamSlug, (row) =>
    row.status === 'in-progress' ? links.deploymentProgress(teamSlug, row.id) : links.deployment(teamSlug, row.id),
  )
  const newestFirst = (
    <span className="inline-flex items-center gap-1">
      {t('list.updated')}
      <ArrowDown aria-label={t('list.newestFirst')} className="size-3!" />
    </span>
  )
  const all: Column<Deployment>[] = [
    status,
    project,
    version,
    { ...node, narrow: 'none' },
    { ...prefix, narrow: 'none' },
    { ...outcome, narrow: 'none' },
    { ...updated, header: newestFirst },
    {
      id: 'by',
      header: t('list.by'),
      cell: (row) => <span className="text-ink-2">{row.updatedByName ?? '-'}</span>,
      narrow: 'none',
    },
    // On a phone: "eu-west-1 / shop, 4 images, 6.1 s" in one line.
    {
      id: 'narrow',
      header: '',
      cell: (row) => <NarrowLine teamSlug={teamSlug} row={row} />,
      narrow: 'detail',
      only: 'narrow',
    },
  ]
  const columns = all.filter((column) => !away.some((id) => id === column.id))
  const picker = {
    options: optional.map((id) => ({ id, label: t(`list.${id}`), shown: !away.includes(id) })),
    onToggle: (id: string, shown: boolean) =>
      hidden.set(optional.filter((other) => (other === id ? !shown : away.includes(other)))),
  }
  return { columns, picker }
}

function NarrowLine({ teamSlug, row }: { teamSlug: string; row: Deployment }) {
  const { t } = useTranslation(['deployments', 'common'])
  const outcome = row.status === 'in-progress' && row.progress ? t('list.images', row.progress) : row.outcome
  return (
    <span>
      {row.node.name} / {row.prefix}
      {row.queuedBehind ? (
        <>
          , <QueuePosition teamSlug={teamSlug} deployment={row} />
        </>
      ) : (
        outcome && `, ${outcome}`
      )}
    </span>
  )
}

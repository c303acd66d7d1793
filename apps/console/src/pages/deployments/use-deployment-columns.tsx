import type { Deployment } from '@crux/contract'
import { ArrowDown } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { useTranslation } from 'react-i18next'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { State } from '../../components/State.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { VersionName } from '../../components/VersionName.tsx'
import { links } from '../../routing/links.ts'
import { createPersistedStore } from '../../stores/create-store.ts'
import type { Column } from '../../table/columns.ts'
import { DeploymentOutcome } from './DeploymentOutcome.tsx'
import { QueuePosition } from './QueuePosition.tsx'

const optional = ['version', 'node', 'prefix', 'outcome', 'updated', 'by'] as const
type Optional = (typeof optional)[number]

const hidden = createPersistedStore<readonly Optional[]>('crux-deployment-columns', [], (raw) =>
  Array.isArray(raw) ? optional.filter((id) => raw.includes(id)) : undefined,
)

/** The columns of the list, without those that the user has hidden. */
export function useDeploymentColumns(teamSlug: string) {
  const { t } = useTranslation(['deployments', 'common'])
  const away = useSyncExternalStore(hidden.subscribe, hidden.get)
  const all: Column<Deployment>[] = [
    {
      id: 'status',
      header: t('list.status'),
      cell: (row) => <State kind="deployment" value={row.status} />,
      narrow: 'lead',
    },
    {
      id: 'project',
      header: t('list.project'),
      cell: (row) => (
        <TextLink
          {...(row.status === 'in-progress'
            ? links.deploymentProgress(teamSlug, row.id)
            : links.deployment(teamSlug, row.id))}
          strong
        >
          {row.project.name}
        </TextLink>
      ),
      narrow: 'title',
    },
    {
      id: 'version',
      header: t('list.version'),
      cell: (row) => <VersionName project={row.project} name={row.version.name} />,
      narrow: 'title',
    },
    { id: 'node', header: t('list.node'), cell: (row) => row.node.name, narrow: 'none' },
    {
      id: 'prefix',
      header: t('list.prefix'),
      cell: (row) => <span className="mono text-ink-2">{row.prefix}</span>,
      narrow: 'none',
    },
    {
      id: 'outcome',
      header: t('list.outcome'),
      cell: (row) => <DeploymentOutcome teamSlug={teamSlug} deployment={row} />,
      grow: true,
      narrow: 'none',
    },
    {
      id: 'updated',
      header: (
        <span className="inline-flex items-center gap-1">
          {t('list.updated')}
          <ArrowDown aria-label={t('list.newestFirst')} className="size-3!" />
        </span>
      ),
      cell: (row) => <RelativeTime at={row.audit.updatedAt} className="text-ink-2 tabular-nums" />,
      align: 'right',
      narrow: 'end',
    },
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

import type { ResponseOf } from '@crux/contract'
import { Lock } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { State } from '../../components/State.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { timeColumn } from '../../table/named-columns.tsx'
import { useDeploymentColumns } from '../deployments/deployment-columns.tsx'

type Row = ResponseOf<'versions.get'>['deployments'][number]

export function useVersionDeploymentColumns(teamSlug: string): Column<Row>[] {
  const { t } = useTranslation('versions')
  const { status, outcome } = useDeploymentColumns(teamSlug)
  return [
    status,
    {
      id: 'prefix',
      header: t('deployment.prefix'),
      narrow: 'title',
      sort: (row) => row.prefix,
      cell: (row) => (
        <span className="inline-flex items-center gap-2">
          <TextLink {...links.deployment(teamSlug, row.id)} strong className="mono">
            {row.prefix}
          </TextLink>
          {row.protected && <Lock aria-label={t('deployment.protected')} className="size-3.5! text-ink-3" />}
        </span>
      ),
    },
    {
      id: 'node',
      header: t('deployment.node'),
      sort: (row) => row.node.name,
      cell: (row) => (
        <span className="inline-flex items-center gap-2">
          <State kind="node" value={row.node.status} compact />
          <TextLink {...links.node(teamSlug, row.node.id)} className="text-ink!">
            {row.node.name}
          </TextLink>
        </span>
      ),
    },
    outcome,
    {
      id: 'note',
      header: t('deployment.noteColumn'),
      cell: (row) => (
        <span title={row.note ?? undefined} className="block max-w-48 truncate text-ink-2">
          {row.note}
        </span>
      ),
    },
    timeColumn('updated', t('deployment.updated'), (row) => row.updatedAt),
  ]
}

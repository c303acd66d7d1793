import type { ResponseOf } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { State } from '../../components/State.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { VersionName } from '../../components/VersionName.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { DeploymentOutcome } from '../deployments/DeploymentOutcome.tsx'

type Deployment = ResponseOf<'deployments.list'>['items'][number]

/** The columns of both lists: deployments that need attention, and the latest ones. */
export function useDeploymentColumns(teamSlug: string): Column<Deployment>[] {
  const { t } = useTranslation('dashboard')
  return [
    {
      id: 'status',
      header: t('recent.status'),
      narrow: 'lead',
      cell: (row) => <State kind="deployment" value={row.status} />,
    },
    {
      id: 'project',
      header: t('recent.project'),
      narrow: 'title',
      cell: (row) => (
        <TextLink {...links.deployment(teamSlug, row.id)} strong>
          {row.project.name}
        </TextLink>
      ),
    },
    {
      id: 'version',
      header: t('recent.version'),
      narrow: 'title',
      cell: (row) => <VersionName project={row.project} name={row.version.name} />,
    },
    { id: 'node', header: t('recent.node'), cell: (row) => row.node.name },
    { id: 'prefix', header: t('recent.prefix'), cell: (row) => <code className="text-ink-2">{row.prefix}</code> },
    {
      id: 'outcome',
      header: t('recent.outcome'),
      grow: true,
      cell: (row) => <DeploymentOutcome teamSlug={teamSlug} deployment={row} />,
    },
    {
      id: 'updated',
      header: t('recent.updated'),
      align: 'right',
      narrow: 'end',
      cell: (row) => <RelativeTime at={row.audit.updatedAt} />,
    },
  ]
}

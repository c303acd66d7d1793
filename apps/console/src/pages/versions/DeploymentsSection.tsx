import type { Deployment, ResponseOf } from '@crux/contract'
import { nodeTakesDeployments } from '@crux/rules'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Copy, ExternalLink, Lock, Plus, Rocket, StickyNote, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryClient, queryKey } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { confirm } from '../../components/confirm.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { State } from '../../components/State.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import type { Column, RowAction } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { FilteredList } from '../../table/FilteredList.tsx'
import { timeColumn } from '../../table/named-columns.tsx'
import { refetchIntervalMs } from '../deployments/DeploymentOutcome.tsx'
import { useDeploymentColumns, useStatusChoice } from '../deployments/deployment-columns.tsx'
import { deploymentReasons } from '../deployments/deployment-reason.ts'
import { useStart } from '../deployments/use-start.ts'
import { isReadyToDeploy } from './DeployVersion.tsx'

const DeleteDeployment = lazyComponent(
  async () => (await import('../deployments/DeleteDeployment.tsx')).DeleteDeployment,
)

const DeploymentCopy = lazyComponent(async () => (await import('../../forms/deployment-copy.tsx')).DeploymentCopy)
const DeploymentCreate = lazyComponent(async () => (await import('../../forms/deployment-create.tsx')).DeploymentCreate)

type Props = { teamSlug: string; project: ResponseOf<'projects.get'>; version: ResponseOf<'versions.get'> }
type Row = Props['version']['deployments'][number]
type Layer = { kind: 'create' } | { kind: 'copy' | 'delete'; deployment: Deployment } | null

export function DeploymentsSection({ teamSlug, project, version }: Props) {
  const { t } = useTranslation(['versions', 'common'])
  const navigate = useNavigate()
  const denied = {
    create: useDenied('deployments.create'),
    copy: useDenied('deployments.copy'),
    delete: useDenied('deployments.delete'),
  }
  const { askAndStart, startDenied } = useStart(teamSlug)
  const columns = useColumns(teamSlug)
  const statusChoice = useStatusChoice()
  // While this list is looked at; the rest of the version comes over its live channel.
  useQuery({
    ...apiQuery('versions.get', { params: { teamSlug, projectId: project.id, versionId: version.id } }),
    refetchInterval: ({ state }) => refetchIntervalMs(state.data?.deployments),
  })
  const [layer, setLayer] = useState<Layer>(null)
  const close = () => setLayer(null)

  const whole = ({ node, ...row }: Row): Deployment => ({
    ...row,
    node: { id: node.id, name: node.name, type: node.type },
    project: { id: project.id, name: project.name, type: project.type },
    version: { id: version.id, name: version.name, type: version.type },
  })
  /** A prepared or failed deployment has a labelled button for the next step; others have an icon to deploy again. */
  const nextStep = (row: Row) => {
    if (row.status !== 'preparing' && row.status !== 'failed') return null
    const deploy = actions(row).find(({ id }) => id === 'deploy')
    return (
      <Button size="sm" icon={Rocket} disabledReason={deploy?.disabledReason} onClick={deploy?.run}>
        {t(row.status === 'failed' ? 'deployment.again' : 'deployment.deploy')}
      </Button>
    )
  }
  const actions = (row: Row): RowAction[] => {
    const reason = deploymentReasons({ status: row.status, version })
    const node = nodeTakesDeployments(row.node)
    const undeployable =
      startDenied ??
      reason('deploy') ??
      (node.allowed ? null : node.reason) ??
      (version.images.length === 0 ? t('deployment.addImagesFirst') : null)
    return [
      {
        id: 'deploy',
        icon: Rocket,
        label: t('deployment.deploy'),
        inline: row.status !== 'preparing' && row.status !== 'failed',
        disabledReason: undeployable,
        run: () => void askAndStart(whole(row)),
      },
      {
        id: 'open',
        icon: ExternalLink,
        label: t('deployment.open'),
        run: () => void navigate(links.deployment(teamSlug, row.id)),
      },
      {
        id: 'note',
        icon: StickyNote,
        label: t('deployment.note'),
        disabledReason: !row.note && t('deployment.noNote'),
        run: () =>
          void confirm({ title: t('deployment.note'), text: row.note ?? '', action: t('common:close'), info: true }),
      },
      {
        id: 'copy',
        icon: Copy,
        label: t('deployment.copy'),
        disabledReason: denied.copy ?? reason('copy'),
        run: () => setLayer({ kind: 'copy', deployment: whole(row) }),
      },
      {
        id: 'delete',
        icon: Trash2,
        label: t('deployment.delete'),
        danger: true,
        disabledReason: denied.delete ?? reason('delete'),
        run: () => setLayer({ kind: 'delete', deployment: whole(row) }),
      },
    ]
  }
  const add = (
    <Button
      variant={isReadyToDeploy(version) && version.deployments.length > 0 ? 'plain' : 'main'}
      icon={Plus}
      disabledReason={denied.create}
      onClick={() => setLayer({ kind: 'create' })}
    >
      {t('deployment.add')}
    </Button>
  )
  return (
    <>
      {version.deployments.length === 0 ? (
        <EmptyState icon={Rocket} title={t('deployment.empty')} text={t('deployment.emptyText')} action={add} />
      ) : (
        <FilteredList
          rows={version.deployments}
          search={t('deployment.filter')}
          searchText={(row) => [row.node.name, row.prefix]}
          choice={statusChoice}
          trailing={add}
        >
          {(rows) => (
            <DataTable
              label={t('deployments')}
              rows={rows}
              columns={columns}
              rowKey={(row) => row.id}
              actions={actions}
              rowButton={(row) => nextStep(row)}
              initialSort={{ column: 'updated', direction: 'desc' }}
            />
          )}
        </FilteredList>
      )}
      {layer?.kind === 'create' && <DeploymentCreate teamSlug={teamSlug} of={{ project, version }} onClose={close} />}
      {layer?.kind === 'copy' && <DeploymentCopy teamSlug={teamSlug} deployment={layer.deployment} onClose={close} />}
      {layer?.kind === 'delete' && (
        <DeleteDeployment
          teamSlug={teamSlug}
          deployment={layer.deployment}
          onClose={close}
          onDeleted={() => void queryClient.invalidateQueries({ queryKey: queryKey('versions.get') })}
        />
      )}
    </>
  )
}

function useColumns(teamSlug: string): Column<Row>[] {
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

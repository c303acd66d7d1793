import { type Deployment, type DeploymentStatus, deploymentStatuses, type LastRelease } from '@crux/contract'
import type { LinkProps } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { State } from '../../components/State.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { VersionName } from '../../components/VersionName.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { codeColumn, timeColumn } from '../../table/named-columns.tsx'
import { DeploymentOutcome } from './DeploymentOutcome.tsx'

type Started = LastRelease & { status: DeploymentStatus }

/** The columns of lists of deployments, by name and in their order; a list takes those that it has room for. */
export function useDeploymentColumns(
  teamSlug: string,
  linkTo: (row: Deployment) => LinkProps = (row) => links.deployment(teamSlug, row.id),
) {
  const { t } = useTranslation('deployments')
  const status: Column<Started> = {
    id: 'status',
    header: t('list.status'),
    narrow: 'lead',
    sort: (row) => deploymentStatuses.indexOf(row.status),
    cell: (row) => <State kind="deployment" value={row.status} />,
  }
  const project: Column<Deployment> = {
    id: 'project',
    header: t('list.project'),
    narrow: 'title',
    sort: (row) => row.project.name,
    cell: (row) => (
      <TextLink {...linkTo(row)} strong>
        {row.project.name}
      </TextLink>
    ),
  }
  const version: Column<Deployment> = {
    id: 'version',
    header: t('list.version'),
    narrow: 'title',
    sort: (row) => row.version.name,
    cell: (row) => <VersionName project={row.project} name={row.version.name} />,
  }
  const node: Column<Deployment> = { id: 'node', header: t('list.node'), cell: (row) => row.node.name }
  const prefix = codeColumn<Deployment>('prefix', t('list.prefix'), (row) => row.prefix)
  const outcome: Column<Started> = {
    id: 'outcome',
    header: t('list.outcome'),
    grow: true,
    cell: (row) => <DeploymentOutcome teamSlug={teamSlug} deployment={row} />,
  }
  const updated = timeColumn<Deployment>('updated', t('list.updated'), (row) => row.audit.updatedAt)
  return { status, project, version, node, prefix, outcome, updated }
}

/** The chips of the states in a list of deployments. */
export function useStatusChoice() {
  const { t } = useTranslation(['deployments', 'common'])
  return {
    label: t('list.status'),
    of: (row: { status: DeploymentStatus }) => row.status,
    values: deploymentStatuses,
    optionLabel: (value: DeploymentStatus) => t(`common:state.deployment.${value}`),
  }
}

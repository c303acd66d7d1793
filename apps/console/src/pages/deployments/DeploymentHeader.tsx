import type { ResponseOf } from '@crux/contract'
import { useNavigate } from '@tanstack/react-router'
import { Copy, Pencil, Rocket, ScrollText, SlidersHorizontal, Trash2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { useDenied } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { ActionMenu } from '../../components/Menu.tsx'
import { PageHeader } from '../../components/PageHeader.tsx'
import { State } from '../../components/State.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import { versionTitle } from '../../components/version-title.ts'
import { links } from '../../routing/links.ts'
import { CancelButton } from './CancelButton.tsx'
import type { DeploymentReason } from './deployment-reason.ts'

export type DeploymentLayer = 'edit' | 'copy' | 'delete'

type Props = {
  teamSlug: string
  deployment: ResponseOf<'deployments.get'>
  /** Why the state of the deployment prevents an action. */
  reason: DeploymentReason
  startReason: string | null
  starting: boolean
  /** How many of the instances are selected; null: all. */
  selected: number | null
  onStart: (options: { recreate?: true }) => void
  onLayer: (layer: DeploymentLayer) => void
}

/** What is deployed where, its state, and the actions on it. */
export function DeploymentHeader(props: Props) {
  const { teamSlug, deployment, reason, startReason, starting, selected, onStart, onLayer } = props
  const { t } = useTranslation(['deployments', 'common'])
  const navigate = useNavigate()
  const denied = {
    update: useDenied('deployments.update'),
    copy: useDenied('deployments.copy'),
    delete: useDenied('deployments.delete'),
  }
  const title = versionTitle(deployment.project, deployment.version)
  return (
    <PageHeader
      title={deployment.project.name}
      fullTitle={t('detail.fullTitle', { title, node: deployment.node.name })}
      crumbs={[{ label: t('list.title'), link: links.deployments(teamSlug) }]}
      mark={
        <>
          {deployment.project.type === 'versioned' && (
            <TextLink
              {...links.version(teamSlug, deployment.project.id, deployment.version.id)}
              strong
              className="font-mono text-[17px]"
            >
              {deployment.version.name}
            </TextLink>
          )}
          <State kind="deployment" value={deployment.status} />
        </>
      }
      subtitle={
        <>
          {t('detail.to')} <b className="font-strong text-ink">{deployment.node.name}</b> {t('detail.under')}{' '}
          <code>{deployment.prefix}</code>, {t('detail.changed')} <TimeAgo at={deployment.audit.updatedAt} />
          {deployment.updatedByName ? ` ${t('detail.by', { name: deployment.updatedByName })}` : ''}
        </>
      }
      actions={
        <>
          <Button
            icon={ScrollText}
            disabledReason={reason('read-log')}
            onClick={() => void navigate(links.deploymentProgress(teamSlug, deployment.id))}
          >
            {t('action.log')}
          </Button>
          {deployment.status === 'in-progress' && <CancelButton teamSlug={teamSlug} deployment={deployment} />}
          <Button variant="main" icon={Rocket} busy={starting} disabledReason={startReason} onClick={() => onStart({})}>
            {selected !== null ? t('detail.deploySome', { count: selected }) : t('action.deploy')}
          </Button>
          <ActionMenu
            actions={[
              {
                id: 'edit',
                label: t('common:edit'),
                icon: Pencil,
                disabledReason: denied.update ?? reason('edit'),
                run: () => onLayer('edit'),
              },
              {
                id: 'configuration',
                label: t('detail.configuration'),
                icon: SlidersHorizontal,
                run: () => void navigate(links.containerConfiguration(teamSlug, deployment.config.id)),
              },
              {
                id: 'copy',
                label: t('action.copy'),
                icon: Copy,
                disabledReason: denied.copy ?? reason('copy'),
                run: () => onLayer('copy'),
              },
              {
                id: 'recreate',
                label: t('detail.recreate'),
                icon: Rocket,
                disabledReason: startReason,
                run: () => onStart({ recreate: true }),
              },
              {
                id: 'delete',
                label: t('common:delete'),
                icon: Trash2,
                danger: true,
                disabledReason: denied.delete ?? reason('delete'),
                run: () => onLayer('delete'),
              },
            ]}
          />
        </>
      }
    />
  )
}

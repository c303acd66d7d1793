import type { Result } from '@crux/contract'
import { deploymentAction, nodeTakesDeployments } from '@crux/rules'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Copy, Pencil, Rocket, ScrollText, Shield, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryClient, queryKey } from '../../api/client.ts'
import { useEditors } from '../../api/editors.ts'
import { useChannel } from '../../api/live.ts'
import { useDenied } from '../../api/me.ts'
import { Ago } from '../../components/Ago.tsx'
import { Box, Facts } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { later } from '../../components/later.tsx'
import { ActionMenu } from '../../components/Menu.tsx'
import { PageHead } from '../../components/PageHead.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonPage, SkeletonRows } from '../../components/Skeletons.tsx'
import { State } from '../../components/State.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../links.ts'
import { DeploymentInstances } from './DeploymentInstances.tsx'
import { DeploymentToken } from './DeploymentToken.tsx'
import { Releases } from './Releases.tsx'
import { useStart } from './use-start.ts'
import { WhatChanges } from './WhatChanges.tsx'

const DeploymentCopy = later(() => import('../../forms/deployment-copy.tsx').then((module) => module.DeploymentCopy))
const DeploymentEdit = later(() => import('../../forms/deployment-edit.tsx').then((module) => module.DeploymentEdit))
const DeleteDeployment = later(() => import('./DeleteDeployment.tsx').then((module) => module.DeleteDeployment))

type Details = Result<'deployments.get'>

export function DeploymentPage() {
  const { teamSlug, deploymentId } = useParams({ from: '/app/$teamSlug/deployments/$deploymentId' })
  const params = { teamSlug, deploymentId }
  const query = useQuery(apiQuery('deployments.get', { params }))
  const refresh = () => {
    for (const operation of ['deployments.get', 'deployments.preview', 'deployments.releases'] as const)
      void queryClient.invalidateQueries({ queryKey: queryKey(operation, { params }) })
  }
  useEditors('deployment', params)
  useChannel('deployment', params, {
    // Whoever starts it, and however it goes on: the page follows.
    ready: (channel) => channel.send('fetch-deployment-events', {}),
    'deployment-event-list': (events) => {
      const known = queryClient.getQueryData<Details>(queryKey('deployments.get', { params }))
      const status = events.findLast((event) => event.type === 'deployment-status')?.deploymentStatus
      if (status && status !== known?.status) refresh()
    },
    'instances-added': refresh,
    'instance-deleted': refresh,
    'deployment-bundles-updated': refresh,
  })
  return (
    <QueryView query={query} skeleton={<SkeletonPage />}>
      {(deployment) => <DeploymentView teamSlug={teamSlug} deployment={deployment} />}
    </QueryView>
  )
}

function DeploymentView({ teamSlug, deployment }: { teamSlug: string; deployment: Details }) {
  const { t } = useTranslation(['deployments', 'common'])
  const navigate = useNavigate()
  const params = { teamSlug, deploymentId: deployment.id }
  const preview = useQuery({ ...apiQuery('deployments.preview', { params }), enabled: deployment.deployable })
  const nodes = useQuery(apiQuery('nodes.list', { params: { teamSlug } }))
  const node = nodes.data?.find((candidate) => candidate.id === deployment.node.id)
  const [layer, setLayer] = useState<'edit' | 'copy' | 'delete' | null>(null)
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const { start, starting, startDenied, rollBack, rollBackDenied } = useStart(teamSlug)
  const denied = {
    update: useDenied('deployments.update'),
    copy: useDenied('deployments.copy'),
    delete: useDenied('deployments.delete'),
  }

  const facts = { status: deployment.status, versionType: deployment.version.type }
  const reason = (action: Parameters<typeof deploymentAction>[0]) => {
    const verdict = deploymentAction(action, facts)
    return verdict.allowed ? null : verdict.reason
  }
  const takes = node && nodeTakesDeployments(node)
  const chosen = deployment.instances.filter((instance) => !left.has(instance.id)).map((instance) => instance.id)
  // A protected deployment in the way is asked about at the start; anything else has to be settled first.
  const problems = preview.data?.problems.filter(({ property }) => property !== 'protectedDeploymentId').length ?? 0
  const startReason =
    startDenied ??
    reason('deploy') ??
    (takes && !takes.allowed ? takes.reason : null) ??
    (deployment.instances.length === 0 ? t('detail.noImages') : chosen.length === 0 ? t('detail.noneChosen') : null) ??
    (problems > 0 ? t('detail.settle', { count: problems }) : null)
  const title = `${deployment.project.name} ${deployment.version.name}`
  const close = () => setLayer(null)

  return (
    <>
      <PageHead
        title={deployment.project.name}
        fullTitle={t('detail.fullTitle', { title, node: deployment.node.name })}
        crumbs={[{ label: t('list.title'), link: links.deployments(teamSlug) }]}
        mark={
          <>
            <TextLink
              {...links.version(teamSlug, deployment.project.id, deployment.version.id)}
              strong
              className="font-mono text-[17px]"
            >
              {deployment.version.name}
            </TextLink>
            <State kind="deployment" value={deployment.status} />
          </>
        }
        sub={
          <>
            {t('detail.to')} <b className="font-strong text-ink">{deployment.node.name}</b> {t('detail.under')}{' '}
            <code>{deployment.prefix}</code>, {t('detail.changed')} <Ago at={deployment.audit.updatedAt} />
            {deployment.updatedByName ? ` ${t('detail.by', { name: deployment.updatedByName })}` : ''}
          </>
        }
        tools={
          <>
            <Button
              icon={ScrollText}
              disabledReason={reason('read-log')}
              onClick={() => void navigate(links.deploymentProgress(teamSlug, deployment.id))}
            >
              {t('action.log')}
            </Button>
            <Button
              variant="main"
              icon={Rocket}
              busy={starting}
              disabledReason={startReason}
              onClick={() => start(deployment, left.size > 0 ? { instances: chosen } : {})}
            >
              {left.size > 0 ? t('detail.deploySome', { count: chosen.length }) : t('action.deploy')}
            </Button>
            <ActionMenu
              actions={[
                {
                  id: 'edit',
                  label: t('common:edit'),
                  icon: Pencil,
                  disabledReason: denied.update ?? reason('edit'),
                  run: () => setLayer('edit'),
                },
                {
                  id: 'copy',
                  label: t('action.copy'),
                  icon: Copy,
                  disabledReason: denied.copy ?? reason('copy'),
                  run: () => setLayer('copy'),
                },
                {
                  id: 'recreate',
                  label: t('detail.recreate'),
                  icon: Rocket,
                  disabledReason: startReason,
                  run: () => start(deployment, { recreate: true }),
                },
                {
                  id: 'delete',
                  label: t('common:delete'),
                  icon: Trash2,
                  danger: true,
                  disabledReason: denied.delete ?? reason('delete'),
                  run: () => setLayer('delete'),
                },
              ]}
            />
          </>
        }
      />
      <Box className="mb-4">
        <Facts
          items={[
            {
              label: t('list.node'),
              value: (
                <span className="flex items-center gap-2">
                  {node && <State kind="node" value={node.status} compact />}
                  <TextLink {...links.node(teamSlug, deployment.node.id)} strong>
                    {deployment.node.name}
                  </TextLink>
                </span>
              ),
            },
            { label: t('list.prefix'), value: <span className="mono">{deployment.prefix}</span> },
            { label: t('detail.running'), value: <RunningNow teamSlug={teamSlug} deployment={deployment} /> },
            ...(deployment.outcome
              ? [
                  {
                    label: t('list.outcome'),
                    value: (
                      <span className={deployment.status === 'failed' ? 'text-failed' : undefined}>
                        {deployment.outcome}
                      </span>
                    ),
                  },
                ]
              : []),
            ...(deployment.protected
              ? [
                  {
                    label: t('create.protected'),
                    value: (
                      <span className="flex items-center gap-1.5">
                        <Shield aria-hidden className="size-3.5! text-accent" />
                        {t('detail.protected')}
                      </span>
                    ),
                  },
                ]
              : []),
            ...(deployment.note
              ? [
                  {
                    label: t('create.note'),
                    value: <span className="font-normal whitespace-pre-wrap">{deployment.note}</span>,
                  },
                ]
              : []),
          ]}
        />
      </Box>
      <div className="grid items-start gap-4 min-[1100px]:grid-cols-[minmax(0,1.5fr)_minmax(0,1fr)]">
        <DeploymentInstances
          teamSlug={teamSlug}
          deployment={deployment}
          preview={preview.data}
          left={left}
          onLeft={setLeft}
        />
        <div className="grid gap-4">
          {deployment.deployable && (
            <Box
              title={t('changes.title')}
              aside={
                deployment.running
                  ? t('changes.against', { version: deployment.running.versionName, number: deployment.running.number })
                  : t('changes.first')
              }
            >
              {preview.data ? (
                <WhatChanges preview={preview.data} />
              ) : preview.isError ? (
                <ErrorState error={preview.error} retry={() => void preview.refetch()} />
              ) : (
                <SkeletonRows rows={2} />
              )}
            </Box>
          )}
          <Releases
            teamSlug={teamSlug}
            deployment={deployment}
            onRollBack={(number) => rollBack(deployment, number)}
            denied={rollBackDenied ?? reason('roll-back')}
          />
          {deployment.version.type === 'rolling' && <DeploymentToken teamSlug={teamSlug} deployment={deployment} />}
        </div>
      </div>
      {layer === 'edit' && <DeploymentEdit teamSlug={teamSlug} deployment={deployment} onClose={close} />}
      {layer === 'copy' && <DeploymentCopy teamSlug={teamSlug} deployment={deployment} onClose={close} />}
      {layer === 'delete' && (
        <DeleteDeployment
          teamSlug={teamSlug}
          deployment={deployment}
          onClose={close}
          onDeleted={() =>
            void navigate(links.version(teamSlug, deployment.project.id, deployment.version.id, 'deployments'))
          }
        />
      )}
    </>
  )
}

function RunningNow({ teamSlug, deployment }: { teamSlug: string; deployment: Details }) {
  const { t } = useTranslation(['deployments', 'common'])
  const { running } = deployment
  if (!running) return <span className="font-normal text-ink-2">{t('detail.nothing')}</span>
  return (
    <span className="flex flex-wrap items-baseline gap-x-2">
      <TextLink {...links.deploymentProgress(teamSlug, running.deploymentId, running.number)} strong className="mono">
        {running.versionName}
      </TextLink>
      <span className="font-normal text-ink-2">
        {t('detail.release', { number: running.number })}, <Ago at={running.startedAt} />
      </span>
    </span>
  )
}

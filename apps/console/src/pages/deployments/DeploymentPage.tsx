import type { ResponseOf } from '@crux/contract'
import { nodeTakesDeployments } from '@crux/rules'
import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryClient, queryKey } from '../../api/client.ts'
import { useEditors } from '../../api/editors.ts'
import { useChannel } from '../../api/live.ts'
import { useFreezeQuestion } from '../../api/use-freeze-question.ts'
import { Box } from '../../components/Box.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonColumns, SkeletonRows } from '../../components/Skeletons.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import { blockingProblems, findFreeze } from './change-lines.ts'
import { DeploymentBundles } from './DeploymentBundles.tsx'
import { DeploymentHeader, type DeploymentLayer } from './DeploymentHeader.tsx'
import { DeploymentInstances } from './DeploymentInstances.tsx'
import { DeploymentSummary } from './DeploymentSummary.tsx'
import { DeploymentToken } from './DeploymentToken.tsx'
import { DriftBox } from './DriftBox.tsx'
import { deploymentReasons } from './deployment-reason.ts'
import { FollowedTags } from './FollowedTags.tsx'
import { queueIntervalMs } from './QueuePosition.tsx'
import { Releases } from './Releases.tsx'
import { useStart } from './use-start.ts'
import { WhatChanges } from './WhatChanges.tsx'

const DeploymentCopy = lazyComponent(async () => (await import('../../forms/deployment-copy.tsx')).DeploymentCopy)
const DeploymentEdit = lazyComponent(async () => (await import('../../forms/deployment-edit.tsx')).DeploymentEdit)
const DeleteDeployment = lazyComponent(async () => (await import('./DeleteDeployment.tsx')).DeleteDeployment)

type Details = ResponseOf<'deployments.get'>

type Shown = 'deployments.get' | 'deployments.preview' | 'deployments.releases'
const shown: readonly Shown[] = ['deployments.get', 'deployments.preview', 'deployments.releases']

export function DeploymentPage() {
  const { teamSlug, deploymentId } = useParams({ from: '/app/$teamSlug/deployments/$deploymentId' })
  const params = { teamSlug, deploymentId }
  const query = useQuery({
    ...apiQuery('deployments.get', { params }),
    refetchInterval: ({ state }) => (state.data?.queuedBehind ? queueIntervalMs : false),
  })
  const refresh = (operations = shown) => {
    for (const operation of operations)
      void queryClient.invalidateQueries({ queryKey: queryKey(operation, { params }) })
  }
  useEditors('deployment', params)
  useChannel('deployment', params, {
    // The page follows each release, including those of other users.
    ready: (channel) => channel.send('fetch-deployment-events', {}),
    'deployment-event-list': (events) => {
      const known = queryClient.getQueryData<Details>(queryKey('deployments.get', { params }))
      const status = events.findLast((event) => event.type === 'deployment-status')?.deploymentStatus
      if (status && status !== known?.status) refresh()
    },
    'instances-added': () => refresh(),
    'instance-deleted': () => refresh(),
    'deployment-bundles-updated': () => refresh(),
    // A pending digest is part of what a start changes.
    'following-updated': () => refresh(['deployments.get', 'deployments.preview']),
  })
  return (
    <QueryView query={query} skeleton={<SkeletonColumns />}>
      {(deployment) => <DeploymentView teamSlug={teamSlug} deployment={deployment} />}
    </QueryView>
  )
}

function DeploymentView({ teamSlug, deployment }: { teamSlug: string; deployment: Details }) {
  const { t } = useTranslation(['deployments', 'common'])
  const navigate = useNavigate()
  const params = { teamSlug, deploymentId: deployment.id }
  const nodes = useQuery(apiQuery('nodes.list', { params: { teamSlug } }))
  const node = nodes.data?.find((candidate) => candidate.id === deployment.node.id)
  const [layer, setLayer] = useState<DeploymentLayer | null>(null)
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set())
  const chosen = deployment.instances.filter((instance) => !left.has(instance.id)).map((instance) => instance.id)
  const some = chosen.length > 0 && chosen.length < deployment.instances.length
  const preview = useQuery({
    ...apiQuery('deployments.preview', { params, ...(some && { query: { instances: chosen.join(',') } }) }),
    enabled: deployment.deployable,
    placeholderData: keepPreviousData,
    // A freeze ends without anyone's change.
    refetchInterval: ({ state }) => (findFreeze(state.data) ? 60_000 : false),
  })
  // Only what this page showed is deployed, so no preview is passed while that of another choice is still shown.
  const wish = {
    ...(some && { instances: chosen }),
    expectedHash: preview.isPlaceholderData ? undefined : preview.data?.hash,
  }
  const { start, starting, startDenied, putBack, rollBack, rollBackDenied } = useStart(teamSlug)
  const reason = deploymentReasons(deployment)
  const takes = node && nodeTakesDeployments(node)
  const problems = blockingProblems(preview.data)
  const { freezeDenied } = useFreezeQuestion()
  const frozen = findFreeze(preview.data) ? freezeDenied : null
  const nodeReason = takes && !takes.allowed ? takes.reason : null
  const startReason =
    startDenied ??
    reason('deploy') ??
    nodeReason ??
    (deployment.instances.length === 0 ? t('detail.noImages') : chosen.length === 0 ? t('detail.noneChosen') : null) ??
    frozen ??
    (problems.length > 0 ? t('detail.fixProblems', { count: problems.length }) : null)
  const close = () => setLayer(null)

  return (
    <>
      <DeploymentHeader
        teamSlug={teamSlug}
        deployment={deployment}
        reason={reason}
        startReason={startReason}
        starting={starting}
        selected={some ? chosen.length : null}
        onStart={(options) => void start(deployment, { ...wish, ...options })}
        onLayer={setLayer}
      />
      <DeploymentSummary teamSlug={teamSlug} deployment={deployment} nodeStatus={node?.status} />
      <DriftBox
        teamSlug={teamSlug}
        deployment={deployment}
        isConnected={node?.status === 'connected'}
        putting={starting}
        denied={rollBackDenied ?? reason('roll-back') ?? nodeReason ?? frozen}
        onPutBack={(number) => putBack(deployment, number)}
      />
      <div className="grid items-start gap-4 min-[1100px]:grid-cols-[minmax(0,1.5fr)_minmax(0,1fr)]">
        <div className="grid min-w-0 gap-4">
          <DeploymentInstances
            teamSlug={teamSlug}
            deployment={deployment}
            preview={preview.data}
            left={left}
            onLeft={setLeft}
          />
          {deployment.version.type === 'rolling' && deployment.instances.length > 0 && (
            <FollowedTags
              teamSlug={teamSlug}
              deployment={deployment}
              starting={starting}
              startReason={startDenied ?? reason('deploy') ?? nodeReason ?? frozen}
              onDeploy={(instanceId) => void start(deployment, { instances: [instanceId] })}
            />
          )}
          <DeploymentBundles
            teamSlug={teamSlug}
            deployment={deployment}
            reason={reason('edit')}
            conflicts={problems.filter(({ error }) => error.startsWith('ambiguous')).length}
          />
        </div>
        <div className="grid min-w-0 gap-4">
          {deployment.deployable && (
            <ChangesBox
              teamSlug={teamSlug}
              deployment={deployment}
              preview={preview}
              noneChosen={chosen.length === 0 && deployment.instances.length > 0}
            />
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

type ChangesProps = {
  teamSlug: string
  deployment: Details
  preview: UseQueryResult<ResponseOf<'deployments.preview'>>
  noneChosen: boolean
}

/** What a start would change, against what is running. */
function ChangesBox({ teamSlug, deployment, preview, noneChosen }: ChangesProps) {
  const { t } = useTranslation('deployments')
  return (
    <Box
      title={t('changes.title')}
      trailing={
        deployment.running
          ? t(deployment.project.type === 'versionless' ? 'changes.againstRelease' : 'changes.against', {
              version: deployment.running.versionName,
              number: deployment.running.number,
            })
          : t('changes.first')
      }
    >
      {noneChosen ? (
        <p className="px-3 py-2.5 text-ink-2">{t('detail.noneChosen')}</p>
      ) : preview.data ? (
        <WhatChanges preview={preview.data} target={{ teamSlug, deployment }} />
      ) : preview.isError ? (
        <ErrorState error={preview.error} retry={() => void preview.refetch()} />
      ) : (
        <SkeletonRows rows={2} />
      )}
    </Box>
  )
}

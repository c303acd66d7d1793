import { useQuery } from '@tanstack/react-query'
import { PauseCircle, ShieldCheck } from 'lucide-react'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryClient, queryKey } from '../../../api/client.ts'
import { Box } from '../../../components/Box.tsx'
import { ErrorState } from '../../../components/ErrorState.tsx'
import { changeLines } from '../../deployments/change-lines.ts'
import { DiffLines } from '../../deployments/DiffLines.tsx'
import { GenerateSecrets } from '../../deployments/GenerateSecrets.tsx'
import { ProblemList } from '../../deployments/ProblemList.tsx'
import { WhatChanges } from '../../deployments/WhatChanges.tsx'

type Props = {
  teamSlug: string
  deploymentId: string
  instanceId: string | undefined
  /** Changes with every stored state: the preview is then fetched again. */
  revision: number | undefined
}

/** What deploying this instance, or all of the deployment, would change now, and what has to be fixed first. */
export function BeforeDeploy({ teamSlug, deploymentId, instanceId, revision }: Props) {
  const { t } = useTranslation(['configuration', 'deployments', 'common'])
  const params = { teamSlug, deploymentId }
  const query = useQuery(apiQuery('deployments.preview', { params }))
  const deployment = useQuery(apiQuery('deployments.get', { params }))
  useEffect(() => {
    void queryClient.invalidateQueries({
      queryKey: queryKey('deployments.preview', { params: { teamSlug, deploymentId } }),
    })
  }, [revision, teamSlug, deploymentId])
  if (query.isError && !query.data) return <ErrorState error={query.error} retry={() => void query.refetch()} />
  const instance = query.data?.instances.find((candidate) => candidate.instanceId === instanceId)
  const running = deployment.data?.running
  const lines = instance ? changeLines(instance.changes) : []
  const all = query.data?.problems ?? []
  // Problems that are fixed on this page come first.
  const problems = [
    ...all.filter((problem) => problem.instanceId === instanceId),
    ...all.filter((problem) => problem.instanceId !== instanceId),
  ]
  const target = deployment.data && { teamSlug, deployment: deployment.data }
  return (
    <Box title={t('before.title')} label={t('before.title')}>
      {!query.data ? (
        <div aria-busy="true" className="grid gap-2 p-3">
          <span className="skeleton h-3 w-2/3" />
          <span className="skeleton h-16 w-full" />
        </div>
      ) : !instanceId ? (
        <WhatChanges preview={query.data} target={target} />
      ) : (
        <div className="grid gap-2.5 p-3 text-small">
          <p className="text-ink-2">{running ? t('before.against', { number: running.number }) : t('before.first')}</p>
          {target && <GenerateSecrets {...target} preview={query.data} />}
          {lines.length > 0 ? <DiffLines lines={lines} /> : running && <p>{t('before.same')}</p>}
          {instance?.action === 'replace-with-pause' ? (
            <p className="flex items-start gap-2 text-progress">
              <PauseCircle aria-hidden />
              <span>{t('before.pauses', { reason: instance.reason ?? '' })}</span>
            </p>
          ) : instance?.action === 'replace' ? (
            <p className="flex items-start gap-2 text-running">
              <ShieldCheck aria-hidden />
              <span>{t('before.noGap')}</span>
            </p>
          ) : null}
          <ProblemList preview={query.data} problems={problems} target={target} instanceId={instanceId} />
        </div>
      )}
    </Box>
  )
}

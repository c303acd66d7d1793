import type { DeploymentStatus, LastRelease } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { ProgressBar } from '../../components/ProgressBar.tsx'
import { QueuePosition } from './QueuePosition.tsx'

type Props = { teamSlug: string; deployment: LastRelease & { status: DeploymentStatus } }

/** The outcome column: the progress of the current release, or the result of the last one. */
export function DeploymentOutcome({ teamSlug, deployment }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const { status, outcome, progress, queuedBehind } = deployment
  if (status === 'in-progress') {
    if (queuedBehind)
      return (
        <span className="text-ink-2">
          {t('list.waiting')} <QueuePosition teamSlug={teamSlug} deployment={deployment} />
        </span>
      )
    if (progress)
      return (
        <span className="flex items-center gap-1.5 text-ink-2">
          <ProgressBar
            className="w-16"
            label={t('list.progress')}
            value={progress.total ? progress.done / progress.total : 0}
          />
          {t('list.images', { done: progress.done, total: progress.total })}
        </span>
      )
  }
  if (status === 'preparing' && !outcome) return <span className="text-ink-3">{t('list.notDeployed')}</span>
  return (
    <span title={outcome ?? undefined} className={status === 'failed' ? undefined : 'text-ink-2'}>
      {outcome}
    </span>
  )
}

/** Lists of deployments have no live channel: they are polled often while a release is in progress, else rarely. */
export const refetchIntervalMs = (deployments: readonly { status: DeploymentStatus }[] | undefined): number =>
  deployments?.some(({ status }) => status === 'in-progress') ? 1_500 : 15_000

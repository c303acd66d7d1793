import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useFreezeQuestion } from '../../api/use-freeze-question.ts'
import { Button } from '../../components/Button.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { blockingProblems, findFreeze } from './change-lines.ts'
import type { Release } from './release.ts'
import { WhatChanges } from './WhatChanges.tsx'

type Props = {
  teamSlug: string
  deployment: ResponseOf<'deployments.get'>
  release: Release
  denied: string | null
  onClose: () => void
  onRollBack: () => void
}

/** Asks before a rollback, and shows its changes to the running release and what is no longer available. */
export function RollBackDialog({ teamSlug, deployment, release, denied, onClose, onRollBack }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const { number } = release
  const params = { teamSlug, deploymentId: deployment.id, number }
  // Fetched again, because the running containers may have changed since the page was opened.
  const preview = useQuery({ ...apiQuery('deployments.preview-release', { params }), staleTime: 0 })
  const problems = blockingProblems(preview.data).length
  const { freezeDenied } = useFreezeQuestion()
  const frozen = findFreeze(preview.data) ? freezeDenied : null
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('rollBack.title', { number })}
      description={t('rollBack.text', {
        images: release.instances.map((instance) => `${instance.containerName} ${instance.imageTag}`).join(', '),
      })}
      width="wide:w-[640px]"
      initialFocus={(content) => content.querySelector('[data-confirm]')}
      footer={
        <>
          <Button onClick={onClose}>{t('common:cancel')}</Button>
          <Button
            data-confirm
            variant="main"
            icon={Undo2}
            busy={preview.isPending}
            disabledReason={denied ?? frozen ?? (problems > 0 ? t('rollBack.missing', { count: problems }) : null)}
            onClick={() => {
              onClose()
              onRollBack()
            }}
          >
            {t('rollBack.action')}
          </Button>
        </>
      }
    >
      <div className="rounded-box border border-line">
        {preview.data ? (
          <WhatChanges preview={preview.data} />
        ) : preview.isError ? (
          <ErrorState error={preview.error} retry={() => void preview.refetch()} />
        ) : (
          <SkeletonRows rows={2} />
        )}
      </div>
    </Dialog>
  )
}

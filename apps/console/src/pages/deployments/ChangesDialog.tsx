import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { Dialog } from '../../components/Dialog.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { WhatChanges } from './WhatChanges.tsx'

type Props = { teamSlug: string; deployment: ResponseOf<'deployments.get'>; onClose: () => void }

/** The changes that the next start would make. */
export function ChangesDialog({ teamSlug, deployment, onClose }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const preview = useQuery(apiQuery('deployments.preview', { params: { teamSlug, deploymentId: deployment.id } }))
  return (
    <Dialog open onClose={onClose} title={t('changes.title')} description={t('changes.text')} width="wide:w-[640px]">
      {preview.data ? (
        <WhatChanges preview={preview.data} target={{ teamSlug, deployment }} />
      ) : preview.isError ? (
        <ErrorState error={preview.error} retry={() => void preview.refetch()} />
      ) : (
        <SkeletonRows rows={3} />
      )}
    </Dialog>
  )
}

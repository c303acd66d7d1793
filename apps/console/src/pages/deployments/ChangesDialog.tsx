import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { Dialog } from '../../components/Dialog.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { WhatChanges } from './WhatChanges.tsx'

/** What the next start would change. */
export function ChangesDialog({
  onClose,
  params,
}: {
  onClose: () => void
  params: { teamSlug: string; deploymentId: string }
}) {
  const { t } = useTranslation(['deployments', 'common'])
  const preview = useQuery(apiQuery('deployments.preview', { params }))
  return (
    <Dialog open onClose={onClose} title={t('changes.title')} description={t('changes.text')} width="wide:w-[640px]">
      {preview.data ? (
        <WhatChanges preview={preview.data} />
      ) : preview.isError ? (
        <ErrorState error={preview.error} retry={() => void preview.refetch()} />
      ) : (
        <SkeletonRows rows={3} />
      )}
    </Dialog>
  )
}

import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { CircleCheck, CircleX, RotateCw } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { Tag } from '../../components/Tag.tsx'

/** Whether the storage answers now, and what it shows to the keys that are stored. Asked when the page opens, and again on demand. */
export function StorageCheck({ teamSlug, storage }: { teamSlug: string; storage: ResponseOf<'storages.get'> }) {
  const { t } = useTranslation('storages')
  const check = apiQuery('storages.check', { params: { teamSlug, storageId: storage.id } })
  // Another address or other keys are another question.
  const query = useQuery({ ...check, queryKey: [...check.queryKey, storage.updatedAt], staleTime: 30_000 })
  return (
    <Box
      title={t('check.title')}
      label={t('check.title')}
      actions={
        <Button size="sm" icon={RotateCw} busy={query.isFetching} onClick={() => void query.refetch()}>
          {t('check.again')}
        </Button>
      }
    >
      {query.isError ? (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      ) : !query.data ? (
        <div aria-busy="true" className="grid gap-2 p-3">
          <span className="skeleton h-4 w-1/2" />
          <span className="skeleton h-4 w-1/3" />
        </div>
      ) : (
        <div role="status" aria-label={t('check.title')}>
          <Answer answer={query.data} />
        </div>
      )}
    </Box>
  )
}

function Answer({ answer: { reachable, reason, buckets } }: { answer: ResponseOf<'storages.check'> }) {
  const { t } = useTranslation('storages')
  const Icon = reachable ? CircleCheck : CircleX
  return (
    <>
      <p className={`flex items-start gap-2 px-3 py-2.5 ${reachable ? 'text-running' : 'text-failed'}`}>
        <Icon aria-hidden className="mt-0.5" />
        <span className="min-w-0 break-words">{reachable ? t('check.answers') : (reason ?? t('check.silent'))}</span>
      </p>
      {reachable && reason && <p className="px-3 pb-2.5 text-ink-2">{reason}</p>}
      {reachable && buckets && (
        <div className="border-t border-line px-3 py-2.5">
          {buckets.length === 0 ? (
            <p className="text-ink-2">{t('check.noBuckets')}</p>
          ) : (
            <>
              <h3 className="mb-1.5 text-small text-ink-2">{t('check.buckets', { count: buckets.length })}</h3>
              <ul aria-label={t('check.bucketList')} className="flex flex-wrap gap-1.5">
                {buckets.map((bucket) => (
                  <li key={bucket} className="max-w-full">
                    <Tag className="inline-block max-w-full truncate">{bucket}</Tag>
                  </li>
                ))}
              </ul>
            </>
          )}
        </div>
      )}
    </>
  )
}

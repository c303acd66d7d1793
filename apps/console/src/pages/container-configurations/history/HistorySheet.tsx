import type { ContainerConfigRevision } from '@crux/contract'
import { diffConfig } from '@crux/rules'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { History } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, client, queryKey, useCall } from '../../../api/client.ts'
import { Button } from '../../../components/Button.tsx'
import { cx } from '../../../components/class-names.ts'
import { Dialog } from '../../../components/Dialog.tsx'
import { EmptyState } from '../../../components/EmptyState.tsx'
import { ErrorState } from '../../../components/ErrorState.tsx'
import { SkeletonRows } from '../../../components/Skeletons.tsx'
import { TimeAgo } from '../../../components/TimeAgo.tsx'
import { changeLines } from '../../deployments/change-lines.ts'
import { DiffLines } from '../../deployments/DiffLines.tsx'
import { useConfigForm } from '../form/config-context.ts'

const pageSize = 20
const shownParts = 4

/** The changes with author and time; an earlier state can be compared with the current one and restored. */
export function HistorySheet({ revision, onClose }: { revision: number | undefined; onClose: () => void }) {
  const { t } = useTranslation(['configuration', 'common'])
  const { teamSlug, configId } = useConfigForm()
  const [open, setOpen] = useState<number | null>(null)
  const params = { teamSlug, configId }
  const history = useInfiniteQuery({
    queryKey: [
      ...queryKey('container-configurations.history', { params, query: { skip: 0, take: pageSize } }),
      revision,
    ],
    queryFn: ({ pageParam, signal }) =>
      client.call(
        'container-configurations.history',
        { params, query: { skip: pageParam, take: pageSize } },
        { signal },
      ),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (pages.length * pageSize < last.total ? pages.length * pageSize : undefined),
  })
  const entries = history.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <Dialog
      open
      onClose={onClose}
      shape="sheet"
      width="wide:w-[560px]"
      title={t('history.title')}
      description={t('history.text')}
    >
      {history.isError && !history.data ? (
        <ErrorState error={history.error} retry={() => void history.refetch()} />
      ) : history.isPending ? (
        <SkeletonRows rows={6} />
      ) : entries.length === 0 ? (
        <EmptyState icon={History} title={t('history.empty')} text={t('history.emptyText')} />
      ) : (
        <ol className="divide-y divide-line overflow-hidden rounded-box border border-line">
          {entries.map((entry, index) => (
            <li key={entry.revision}>
              <button
                type="button"
                aria-expanded={open === entry.revision}
                onClick={() => setOpen(open === entry.revision ? null : entry.revision)}
                className={cx(
                  'grid w-full gap-0.5 px-3 py-2 text-left hover:bg-hover',
                  open === entry.revision && 'bg-sunken',
                )}
              >
                <span className="flex items-baseline gap-2">
                  <span className="font-strong">{entry.updatedBy?.name ?? t('history.somebody')}</span>
                  <span className="text-small text-ink-2">
                    <TimeAgo at={entry.updatedAt} />
                  </span>
                  {index === 0 && <span className="ml-auto text-small text-ink-3">{t('history.now')}</span>}
                </span>
                <span className="mono break-words text-ink-2">{getParts(t, entry.changed)}</span>
              </button>
              {open === entry.revision && <OneRevision entry={entry} revision={revision} now={index === 0} />}
            </li>
          ))}
        </ol>
      )}
      {history.hasNextPage && (
        <div className="mt-3 text-center">
          <Button busy={history.isFetchingNextPage} onClick={() => void history.fetchNextPage()}>
            {t('history.more')}
          </Button>
        </div>
      )}
    </Dialog>
  )
}

type OneRevisionProps = { entry: ContainerConfigRevision; revision: number | undefined; now: boolean }

/** The changes that restoring the state would make, with the button for it. */
function OneRevision({ entry, revision, now }: OneRevisionProps) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const params = { teamSlug: form.teamSlug, configId: form.configId, revision: entry.revision }
  const then = useQuery({
    ...apiQuery('container-configurations.get-revision', { params }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const restore = useCall('container-configurations.restore', {
    stale: [queryKey('container-configurations.history', { params })],
  })
  const lines = then.data
    ? changeLines(diffConfig({ ...form.own, secrets: null }, { ...then.data.config, secrets: null }))
    : []
  const question = {
    title: t('history.restoreTitle'),
    text: t('history.restoreText', { count: lines.length }),
    action: t('history.restore'),
  }
  return (
    <div className="grid gap-2 border-t border-line bg-sunken px-3 py-2.5">
      {then.isError ? (
        <ErrorState error={then.error} retry={() => void then.refetch()} />
      ) : then.isPending ? (
        <span className="skeleton h-16 w-full" />
      ) : lines.length === 0 ? (
        <p className="text-ink-2">{t(now ? 'history.isNow' : 'history.same')}</p>
      ) : (
        <>
          <p className="text-small text-ink-2">{t('history.wouldChange')}</p>
          <DiffLines lines={lines} className="max-h-80 overflow-y-auto border border-line bg-surface!" />
          <div>
            <Button
              size="sm"
              busy={restore.isPending}
              disabledReason={form.readOnly ?? restore.denied}
              onClick={() => void restore.ask(question, { params, body: { revision } })}
            >
              {t('history.restore')}
            </Button>
          </div>
        </>
      )}
    </div>
  )
}

function getParts(
  t: ReturnType<typeof useTranslation<['configuration', 'common']>>['t'],
  changed: readonly string[],
): string {
  const names = changed.slice(0, shownParts).map((part) => part.replace(/^(environment|secrets)\./, ''))
  if (changed.length > shownParts) names.push(t('history.others', { count: changed.length - shownParts }))
  return names.join(', ') || t('history.nothing')
}

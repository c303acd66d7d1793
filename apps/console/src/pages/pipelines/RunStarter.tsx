import { Eye, User } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Tooltip } from '../../components/Tooltip.tsx'
import type { Run } from './run-queries.ts'

/** The user or the event watcher that started a run. */
export function RunStarter({ run: { eventWatcher, startedBy, creatorType } }: { run: Run }) {
  const { t } = useTranslation('pipelines')
  const isWatcher = creatorType === 'eventWatcher' || Boolean(eventWatcher)
  const Icon = isWatcher ? Eye : User
  return (
    <Tooltip content={t(isWatcher ? 'starter.watcher' : 'starter.user')}>
      <span className="inline-flex max-w-full min-w-0 items-center gap-1.5 align-bottom text-ink-2">
        <Icon aria-hidden className="size-3.5! shrink-0" />
        <span className="truncate">{eventWatcher?.name ?? startedBy?.name ?? t('starter.gone')}</span>
      </span>
    </Tooltip>
  )
}

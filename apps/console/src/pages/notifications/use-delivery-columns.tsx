import type { NotificationType } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { useNow } from '../../components/RelativeTime.tsx'
import { relativeTime } from '../../components/relative-time.ts'
import { State } from '../../components/State.tsx'
import type { Column } from '../../table/columns.ts'
import { timeColumn } from '../../table/named-columns.tsx'
import type { Delivery } from './deliveries.ts'
import { useDeliveryResult } from './use-delivery-result.ts'

export function useDeliveryColumns(type: NotificationType): Column<Delivery>[] {
  const { t } = useTranslation('notifications')
  const getResult = useDeliveryResult()
  return [
    {
      id: 'status',
      header: t('log.status'),
      narrow: 'lead',
      cell: ({ status }) => <State kind="delivery" value={status} />,
    },
    {
      id: 'event',
      header: t('log.event'),
      narrow: 'title',
      cell: ({ event }) => <span className="font-strong">{t(`event.${event}`)}</span>,
    },
    {
      id: 'text',
      header: t('log.text'),
      grow: true,
      cell: ({ text }) => <span className="text-ink-2 max-md:line-clamp-2 max-md:wrap-anywhere">{text}</span>,
    },
    ...(type === 'email'
      ? [{ id: 'recipient', header: t('log.recipient'), cell: ({ recipient }: Delivery) => recipient }]
      : []),
    {
      id: 'result',
      header: t('log.result'),
      cell: (delivery) => (
        <span className={delivery.status === 'failed' ? 'text-failed' : 'text-ink-2'}>{getResult(delivery)}</span>
      ),
    },
    {
      id: 'attempts',
      header: t('log.attempts'),
      align: 'right',
      narrow: 'none',
      cell: ({ attempts }) => attempts,
    },
    {
      id: 'next',
      header: t('log.next'),
      cell: ({ status, nextAttemptAt }) =>
        status === 'pending' && nextAttemptAt ? <NextAttempt at={nextAttemptAt} /> : null,
    },
    timeColumn('created', t('log.created'), ({ createdAt }) => createdAt),
  ]
}

/** "in 28 s", counted down. */
function NextAttempt({ at }: { at: string }) {
  const { t } = useTranslation('notifications')
  const now = useNow()
  const left = relativeTime(now, Date.parse(at))
  return <span className="tabular-nums">{left === 'now' ? t('log.nextNow') : t('log.nextIn', { time: left })}</span>
}

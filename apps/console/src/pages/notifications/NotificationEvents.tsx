import type { NotificationEvent } from '@crux/contract'
import { Check, Minus } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Box } from '../../components/Box.tsx'
import { notificationEventGroups } from '../../forms/notification-choices.ts'

/** Which events are sent, and which are not. */
export function NotificationEvents({ events }: { events: readonly NotificationEvent[] }) {
  const { t } = useTranslation('notifications')
  const known = notificationEventGroups.flatMap((group) => group.events)
  return (
    <Box
      title={t('events.title')}
      trailing={t('events.count', { count: events.length, total: known.length })}
      label={t('events.title')}
      className="mb-4"
    >
      {events.length === 0 && <p className="px-3.5 pt-3 text-ink-2">{t('events.none')}</p>}
      <dl className="grid gap-x-9 gap-y-3 px-3.5 py-3 [grid-template-columns:repeat(auto-fill,minmax(200px,1fr))] max-md:grid-cols-1">
        {notificationEventGroups.map(({ group, events: inGroup }) => (
          <div key={group} className="min-w-0">
            <dt className="mb-1 text-small text-ink-2">{t(`group.${group}`)}</dt>
            {inGroup.map((event) => (
              <dd key={event}>
                <Line label={t(`event.${event}`)} on={events.includes(event)} />
              </dd>
            ))}
          </div>
        ))}
      </dl>
    </Box>
  )
}

function Line({ label, on }: { label: string; on: boolean }) {
  const { t } = useTranslation('notifications')
  const Icon = on ? Check : Minus
  return (
    <span className={on ? 'flex items-center gap-1.5' : 'flex items-center gap-1.5 text-ink-3'}>
      <Icon aria-hidden className={on ? 'text-running' : undefined} />
      {label}
      <span className={on ? 'sr-only' : 'text-small whitespace-nowrap'}>
        {t(on ? 'events.sent' : 'events.notSent')}
      </span>
    </span>
  )
}

import type { ResponseOf } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { Box, DescriptionList } from '../../components/Box.tsx'
import { TimeAgo } from '../../components/TimeAgo.tsx'
import { notificationTypeIcons } from '../../forms/notification-choices.ts'
import { NotificationStatus } from './NotificationStatus.tsx'

/** Where the messages of a notification go. */
export function NotificationFacts({ notification }: { notification: ResponseOf<'notifications.get'> }) {
  const { t } = useTranslation('notifications')
  const { type, url, members = [], updatedAt } = notification
  const Icon = notificationTypeIcons[type]
  return (
    <Box label={t('details.facts')} className="mb-4">
      <DescriptionList
        items={[
          { label: t('column.status'), value: <NotificationStatus of={notification} /> },
          {
            label: t('column.type'),
            value: (
              <span className="inline-flex items-center gap-1.5">
                <Icon aria-hidden className="text-ink-3" />
                {t(`type.${type}`)}
              </span>
            ),
          },
          type === 'email'
            ? { label: t('details.members'), value: <Members members={members} />, isLong: true }
            : { label: t('column.address'), value: <code>{url}</code>, isLong: true },
          ...(type === 'webhook'
            ? [
                {
                  label: t('details.signature'),
                  value: t(notification.hasSecret ? 'details.signed' : 'details.unsigned'),
                },
              ]
            : []),
          ...(updatedAt ? [{ label: t('details.updated'), value: <TimeAgo at={updatedAt} /> }] : []),
        ]}
      />
    </Box>
  )
}

function Members({ members }: { members: NonNullable<ResponseOf<'notifications.get'>['members']> }) {
  const { t } = useTranslation('notifications')
  if (members.length === 0) return <span className="text-failed">{t('details.noMembers')}</span>
  return (
    <ul className="grid gap-0.5">
      {members.map(({ id, name, email }) => (
        <li key={id}>
          {name} <span className="font-normal text-ink-2">{email}</span>
        </li>
      ))}
    </ul>
  )
}

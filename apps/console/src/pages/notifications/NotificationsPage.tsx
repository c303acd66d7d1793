import { notificationEvents, notificationTypes, type ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { Bell } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied, useTeam } from '../../api/me.ts'
import { Tooltip } from '../../components/Tooltip.tsx'
import { notificationTypeIcons } from '../../forms/notification-choices.ts'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { ListPage } from '../../table/ListPage.tsx'
import { nameColumn } from '../../table/named-columns.tsx'
import { NotificationStatus } from './NotificationStatus.tsx'

const NotificationForm = lazyComponent(async () => (await import('../../forms/notification-form.tsx')).NotificationForm)

type Notification = ResponseOf<'notifications.list'>[number]

export function NotificationsPage() {
  const { t } = useTranslation('notifications')
  const { slug } = useTeam()
  const query = useQuery(apiQuery('notifications.list', { params: { teamSlug: slug } }))
  const denied = useDenied('notifications.create')
  return (
    <ListPage
      query={query}
      title={t('title')}
      subtitle={(notifications) => t('sub', { count: notifications.length })}
      add={{ label: t('add'), denied, form: (onClose) => <NotificationForm teamSlug={slug} onClose={onClose} /> }}
      empty={{ icon: Bell, title: t('empty.title'), text: t('empty.text') }}
      search={t('filter')}
      searchText={(row) => [row.name, row.url, t(`type.${row.type}`), row.problem]}
      choice={{
        label: t('column.type'),
        of: (row) => row.type,
        values: notificationTypes,
        optionLabel: (type) => t(`type.${type}`),
      }}
      columns={useColumns(slug)}
    />
  )
}

function useColumns(slug: string): Column<Notification>[] {
  const { t } = useTranslation('notifications')
  return [
    {
      id: 'status',
      header: t('column.status'),
      narrow: 'lead',
      sort: (row) => (row.active ? 1 : row.problem ? 0 : 2),
      cell: (row) => <NotificationStatus of={row} />,
    },
    nameColumn(
      t('column.name'),
      (row) => links.notification(slug, row.id),
      (row) => {
        const Icon = notificationTypeIcons[row.type]
        return <Icon aria-hidden />
      },
    ),
    {
      id: 'type',
      header: t('column.type'),
      sort: (row) => t(`type.${row.type}`),
      cell: (row) => t(`type.${row.type}`),
    },
    {
      id: 'address',
      header: t('column.address'),
      sort: (row) => row.url,
      cell: (row) => (row.url ? <code className="text-ink-2">{row.url}</code> : <NoAddress />),
    },
    {
      id: 'events',
      header: t('events.title'),
      align: 'right',
      narrow: 'none',
      sort: (row) => row.enabledEvents?.length,
      cell: ({ enabledEvents = [] }) => (
        <Tooltip content={enabledEvents.map((event) => t(`event.${event}`)).join(', ') || t('events.none')}>
          <span>{t('events.count', { count: enabledEvents.length, total: notificationEvents.length })}</span>
        </Tooltip>
      ),
    },
    {
      id: 'problem',
      header: t('column.problem'),
      grow: true,
      cell: (row) => (
        <Tooltip content={row.problem}>
          <span className="text-failed">{row.problem}</span>
        </Tooltip>
      ),
    },
  ]
}

/** An e-mail goes to members. */
function NoAddress() {
  const { t } = useTranslation('notifications')
  return <span className="text-ink-2">{t('column.members')}</span>
}

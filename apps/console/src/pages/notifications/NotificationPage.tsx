import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryKey } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { useRemoval } from '../../api/use-removal.ts'
import { DetailsHead } from '../../components/DetailsHead.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonPage } from '../../components/Skeletons.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import { useAnchor } from '../../routing/use-anchor.ts'
import { ActiveButton } from './ActiveButton.tsx'
import { Deliveries } from './Deliveries.tsx'
import { NotificationEvents } from './NotificationEvents.tsx'
import { NotificationFacts } from './NotificationFacts.tsx'
import { NotificationProblem } from './NotificationProblem.tsx'
import { TestButton, TestResult, useTest } from './TestMessage.tsx'

const NotificationForm = lazyComponent(async () => (await import('../../forms/notification-form.tsx')).NotificationForm)

const route = getRouteApi('/app/$teamSlug/notifications/$notificationId')

export function NotificationPage() {
  const params = route.useParams()
  const query = useQuery(apiQuery('notifications.get', { params }))
  return (
    <QueryView query={query} skeleton={<SkeletonPage />}>
      {(notification) => <NotificationView teamSlug={params.teamSlug} notification={notification} />}
    </QueryView>
  )
}

type Props = { teamSlug: string; notification: ResponseOf<'notifications.get'> }

function NotificationView({ teamSlug, notification }: Props) {
  const { t } = useTranslation('notifications')
  const anchor = useAnchor('edit')
  const denied = useDenied('notifications.update')
  const params = { teamSlug, notificationId: notification.id }
  const test = useTest(params)
  const list = links.notifications(teamSlug)
  const removal = useRemoval('notifications.delete', {
    input: { params },
    stale: [queryKey('notifications.list')],
    question: {
      title: t('delete.title', { name: notification.name }),
      text: t('delete.text'),
      action: t('delete.action'),
    },
    done: t('delete.done', { name: notification.name }),
    list,
  })
  return (
    <>
      <DetailsHead
        of={notification}
        list={{ label: t('title'), link: list }}
        edit={{ denied, show: anchor.show }}
        removal={removal}
        inUse={false}
        actions={
          <>
            <TestButton test={test} />
            <ActiveButton params={params} notification={notification} />
          </>
        }
      />
      {notification.problem && !notification.active && <NotificationProblem problem={notification.problem} />}
      <TestResult test={test} />
      <NotificationFacts notification={notification} />
      <NotificationEvents events={notification.enabledEvents} />
      <Deliveries params={params} notification={notification} />
      {anchor.open && !denied && (
        <NotificationForm teamSlug={teamSlug} notification={notification} onClose={anchor.close} />
      )}
    </>
  )
}

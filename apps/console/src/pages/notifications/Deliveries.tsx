import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { Inbox, ScrollText, Send } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { queryClient, queryKey, useCall } from '../../api/client.ts'
import { Box } from '../../components/Box.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import type { RowAction } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { Pagination } from '../../table/Pagination.tsx'
import { type Delivery, deliveriesQuery, firstPage, getRefetchMs } from './deliveries.ts'
import { useDeliveryColumns } from './use-delivery-columns.tsx'

const DeliveryDialog = lazyComponent(async () => (await import('./DeliveryDialog.tsx')).DeliveryDialog)

type Props = {
  params: { teamSlug: string; notificationId: string }
  notification: ResponseOf<'notifications.get'>
}

/** What was sent, what waits for its next attempt and what did not arrive, newest first. */
export function Deliveries({ params, notification }: Props) {
  const { t } = useTranslation('notifications')
  const [page, setPage] = useState(firstPage)
  const [shownId, setShownId] = useState<string | null>(null)
  const query = useQuery({
    ...deliveriesQuery(params, page),
    refetchInterval: ({ state }) => getRefetchMs(state.data?.items ?? [], Date.now()),
  })
  useFollowedNotification(query.data?.items)
  const columns = useDeliveryColumns(notification.type)
  const getActions = useActions(params, notification, setShownId, () => setPage(firstPage))
  const shown = query.data?.items.find(({ id }) => id === shownId)
  return (
    <QueryView
      query={query}
      skeleton={<SkeletonRows rows={4} />}
      isEmpty={({ total }) => total === 0}
      empty={<EmptyState icon={Inbox} title={t('log.empty')} text={t('log.emptyText')} />}
    >
      {({ items, total }) => (
        <Box title={t('log.title')} trailing={<span className="tabular-nums">{total}</span>}>
          <DataTable
            flush
            label={t('log.title')}
            rows={items}
            columns={columns}
            rowKey={({ id }) => id}
            initialSort={null}
            tint={({ status }) => (status === 'failed' ? 'failed' : undefined)}
            actions={getActions}
            footer={total > firstPage.take && <Pagination {...page} total={total} onChange={setPage} />}
          />
          {shown && <DeliveryDialog delivery={shown} onClose={() => setShownId(null)} />}
        </Box>
      )}
    </QueryView>
  )
}

/** A delivery that ends may have switched the notification off. */
function useFollowedNotification(deliveries: readonly Delivery[] | undefined): void {
  const ended = deliveries
    ?.filter(({ status }) => status !== 'pending')
    .map(({ id }) => id)
    .join(' ')
  const [first] = useState(ended)
  useEffect(() => {
    if (ended !== first) void queryClient.invalidateQueries({ queryKey: queryKey('notifications.get') })
  }, [ended, first])
}

function useActions(
  params: Props['params'],
  { active }: Props['notification'],
  show: (id: string) => void,
  onSent: () => void,
): (delivery: Delivery) => RowAction[] {
  const { t } = useTranslation('notifications')
  const sendAgain = useCall('notifications.send-again', {
    stale: [queryKey('notifications.deliveries')],
    done: t('log.sentAgain'),
    onSuccess: onSent,
  })
  return ({ id, status }) => [
    { id: 'show', label: t('log.show'), icon: ScrollText, inline: true, run: () => show(id) },
    {
      id: 'send-again',
      label: t('log.sendAgain'),
      icon: Send,
      inline: true,
      disabledReason:
        sendAgain.denied ??
        (!active
          ? t('log.inactive')
          : status === 'pending'
            ? t('log.stillPending')
            : sendAgain.isPending && t('log.sending')),
      run: () => sendAgain.mutate({ params: { ...params, deliveryId: id } }),
    },
  ]
}

import type { ResponseOf } from '@crux/contract'
import { Pause, Play } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../../api/client.ts'
import { Button } from '../../components/Button.tsx'
import { toStoredWrite } from '../../forms/notification-values.ts'

type Props = {
  params: { teamSlug: string; notificationId: string }
  notification: ResponseOf<'notifications.get'>
}

/** Switches the notification on or off; everything else stays as it is stored. */
export function ActiveButton({ params, notification }: Props) {
  const { t } = useTranslation('notifications')
  const { name, active } = notification
  const update = useCall('notifications.update', {
    stale: [queryKey('notifications.list'), queryKey('notifications.get'), queryKey('notifications.deliveries')],
    done: t(active ? 'switchedOff' : 'switchedOn', { name }),
  })
  return (
    <Button
      icon={active ? Pause : Play}
      busy={update.isPending}
      disabledReason={update.denied}
      onClick={() => update.mutate({ params, body: { ...toStoredWrite(notification), active: !active } })}
    >
      {t(active ? 'switchOff' : 'switchOn')}
    </Button>
  )
}

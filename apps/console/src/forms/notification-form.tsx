import { notificationTypes, type ResponseOf } from '@crux/contract'
import { useEffect } from 'react'
import { useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { links } from '../routing/links.ts'
import { FormSheet } from './FormShell.tsx'
import { ChipsField, SwitchField, TextField } from './fields.tsx'
import { NotificationEventsField } from './notification-events-field.tsx'
import { NotificationMembersField } from './notification-members-field.tsx'
import { NotificationPreview } from './notification-preview.tsx'
import { NotificationSecretField } from './notification-secret-field.tsx'
import { NotificationUrlField } from './notification-url-field.tsx'
import { emptyNotification, fromNotification, NotificationValues, toNotificationWrite } from './notification-values.ts'
import { useFormEnd, useZodForm } from './use-form.ts'

type Props = { teamSlug: string; notification?: ResponseOf<'notifications.get'>; onClose: () => void }

/** Creates a notification, or updates the given one. The stored address and secret never reach the browser. */
export function NotificationForm({ teamSlug, notification, onClose }: Props) {
  const { t } = useTranslation(['notifications', 'common'])
  const { created, updated } = useFormEnd(onClose)
  const form = useZodForm(NotificationValues, notification ? fromNotification(notification) : emptyNotification)
  const stale = [queryKey('notifications.list'), queryKey('notifications.get'), queryKey('notifications.deliveries')]
  const create = useCall('notifications.create', {
    stale,
    onSuccess: ({ id, name }) => created(links.notification(teamSlug, id), t('created', { name })),
  })
  const update = useCall('notifications.update', {
    stale,
    onSuccess: (_, { body: { name } }) => updated(t('updated', { name })),
  })
  const type = useWatch({ control: form.control, name: 'type' })
  // An address of one service means nothing to another one.
  const isOtherType = notification !== undefined && type !== notification.type
  useEffect(() => {
    if (isOtherType) form.setValue('changeUrl', true)
  }, [isOtherType, form])
  const shell = notification
    ? { title: t('form.editTitle', { name: notification.name }), call: update }
    : { title: t('form.createTitle'), submitLabel: t('form.submit'), call: create }
  return (
    <FormSheet
      {...shell}
      form={form}
      width="wide:w-[520px]"
      onClose={onClose}
      onSubmit={(values) => {
        const body = toNotificationWrite(values, notification)
        return notification
          ? update.mutateAsync({ params: { teamSlug, notificationId: notification.id }, body })
          : create.mutateAsync({ params: { teamSlug }, body })
      }}
    >
      <TextField form={form} name="name" label={t('common:name')} autoComplete="off" />
      <ChipsField
        form={form}
        name="type"
        label={t('column.type')}
        options={notificationTypes.map((value) => ({ value, label: t(`type.${value}`) }))}
        onPick={() => form.clearErrors(['url', 'memberIds', 'secret'])}
      />
      {type === 'email' ? (
        <NotificationMembersField form={form} />
      ) : (
        <NotificationUrlField form={form} type={type} storedUrl={isOtherType ? undefined : notification?.url} />
      )}
      {type === 'webhook' && (
        <NotificationSecretField
          form={form}
          storedFor={notification?.hasSecret && !isOtherType ? notification.url : undefined}
        />
      )}
      <SwitchField form={form} name="active" label={t('form.active')} help={t('form.activeHelp')} />
      <NotificationEventsField form={form} />
      <NotificationPreview type={type} />
    </FormSheet>
  )
}

import {
  limits,
  Name,
  type NotificationWrite,
  notificationEvents,
  notificationTypes,
  type ResponseOf,
} from '@crux/contract'
import i18n from 'i18next'
import { z } from 'zod'

type Stored = ResponseOf<'notifications.get'>

/** The values of the form. Address and secret are never sent to the browser, so they stay until the user replaces them. */
export const NotificationValues = z
  .object({
    name: Name,
    type: z.enum(notificationTypes),
    url: z.string().trim().max(limits.url.max),
    /** False only while the stored address stays as it is. */
    changeUrl: z.boolean(),
    active: z.boolean(),
    enabledEvents: z.array(z.enum(notificationEvents)),
    memberIds: z.array(z.string()).max(limits.notificationMembers),
    secret: z.string().max(limits.webhookSecret.max),
    /** False only while the stored secret stays as it is. */
    changeSecret: z.boolean(),
  })
  .superRefine((values, context) => {
    const add = (path: keyof typeof values, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    const { type, secret } = values
    if (sendsUrl(values)) {
      const problem =
        values.url === '' ? i18n.t('notifications:form.urlRequired') : checkNotificationUrl(type, values.url)
      if (problem) add('url', problem)
    }
    if (type === 'email' && values.memberIds.length === 0)
      add('memberIds', i18n.t('notifications:form.membersRequired'))
    if (sendsSecret(values) && secret !== '' && secret.length < limits.webhookSecret.min)
      add('secret', i18n.t('rules.tooShort', { count: limits.webhookSecret.min }))
  })
export type NotificationValues = z.output<typeof NotificationValues>
export type NotificationInput = z.input<typeof NotificationValues>

export const emptyNotification: NotificationInput = {
  name: '',
  type: 'discord',
  url: '',
  changeUrl: true,
  active: true,
  enabledEvents: [...notificationEvents],
  memberIds: [],
  secret: '',
  changeSecret: true,
}

export function fromNotification(stored: Stored): NotificationInput {
  const { name, type, active, enabledEvents, members = [] } = stored
  return {
    ...emptyNotification,
    name,
    type,
    active,
    enabledEvents,
    memberIds: members.map(({ id }) => id),
    changeUrl: type === 'email',
    changeSecret: !stored.hasSecret,
  }
}

/** @param stored what is updated: its masked address keeps the stored one */
export function toNotificationWrite(values: NotificationValues, stored?: Stored): NotificationWrite {
  const { name, type, active, enabledEvents, memberIds, secret } = values
  const base = { name, type, active, enabledEvents }
  if (type === 'email') return { ...base, url: '', memberIds }
  const url = sendsUrl(values) ? values.url : (stored?.url ?? '')
  return sendsSecret(values) && secret !== '' ? { ...base, url, secret } : { ...base, url }
}

/** The body that changes nothing. */
export const toStoredWrite = (stored: Stored): NotificationWrite =>
  toNotificationWrite({ ...fromNotification(stored) }, stored)

const sendsUrl = ({ type, changeUrl }: Pick<NotificationInput, 'type' | 'changeUrl'>) => type !== 'email' && changeUrl
const sendsSecret = ({ type, changeSecret }: Pick<NotificationInput, 'type' | 'changeSecret'>) =>
  type === 'webhook' && changeSecret

const checkNotificationUrl = (_: string, url: string) => (url.startsWith('http') ? undefined : 'https://example.com')

import {
  limits,
  Name,
  type NotificationWrite,
  notificationEvents,
  notificationTypes,
  type ResponseOf,
} from '@crux/contract'
import { parseNotificationUrl } from '@crux/rules'
import i18n from 'i18next'
import type { UseFormReturn } from 'react-hook-form'
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
    const urlProblem = findUrlProblem(values)
    if (urlProblem) add('url', urlProblem.message)
    if (type === 'email' && values.memberIds.length === 0)
      add('memberIds', i18n.t('notifications:form.membersRequired'))
    if (sendsSecret(values) && secret !== '' && secret.length < limits.webhookSecret.min)
      add('secret', i18n.t('rules.tooShort', { count: limits.webhookSecret.min }))
  })
export type NotificationValues = z.output<typeof NotificationValues>
export type NotificationInput = z.input<typeof NotificationValues>
export type NotificationFormApi = UseFormReturn<NotificationInput, unknown, NotificationValues>

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
  const url = values.changeUrl ? values.url : (stored?.url ?? '')
  // An empty one deletes what is stored.
  return sendsSecret(values) ? { ...base, url, secret: secret || null } : { ...base, url }
}

/** The body that changes nothing. */
export const toStoredWrite = (stored: Stored): NotificationWrite =>
  toNotificationWrite({ ...fromNotification(stored) }, stored)

function findUrlProblem({ type, changeUrl, url }: Pick<NotificationInput, 'type' | 'changeUrl' | 'url'>) {
  if (type === 'email' || !changeUrl) return null
  if (url === '') return { message: i18n.t('notifications:form.urlRequired') }
  const parsed = parseNotificationUrl(type, url)
  return parsed.ok ? null : { message: parsed.problem }
}

const sendsSecret = ({ type, changeSecret }: Pick<NotificationInput, 'type' | 'changeSecret'>) =>
  type === 'webhook' && changeSecret

/** Whether an address is on another host than the stored one, for which its secret was entered. */
export function isOtherHost(url: string, storedUrl: string): boolean {
  const typed = url.trim()
  return URL.canParse(typed) && URL.canParse(storedUrl) && new URL(typed).origin !== new URL(storedUrl).origin
}

import { notificationEvents, type ResponseOf } from '@crux/contract'
import { notificationUrlExamples } from '@crux/rules'
import { describe, expect, it } from 'vitest'
import { notificationEventGroups } from './notification-choices.ts'
import {
  emptyNotification,
  fromNotification,
  isOtherHost,
  NotificationValues,
  toNotificationWrite,
  toStoredWrite,
} from './notification-values.ts'

const stored: ResponseOf<'notifications.get'> = {
  id: '2f0a8a0e-6d0c-4a8e-9c39-2f0a8a0e6d0c',
  name: 'Change log',
  type: 'webhook',
  url: 'https://changes.example.com/••••',
  active: true,
  enabledEvents: ['node-back'],
  hasSecret: true,
}
const typed = { ...emptyNotification, name: 'Change log' }
const wrongFields = (values: unknown) =>
  NotificationValues.safeParse(values).error?.issues.map(({ path }) => path.join('.')) ?? []

describe('the form of a notification', () => {
  it('sends the masked address and no secret while both are kept', () => {
    const values = NotificationValues.parse({ ...fromNotification(stored), name: 'Changes' })
    expect(toNotificationWrite(values, stored)).toEqual({
      name: 'Changes',
      type: 'webhook',
      url: stored.url,
      active: true,
      enabledEvents: ['node-back'],
    })
    expect(toStoredWrite(stored)).toEqual({ ...toNotificationWrite(values, stored), name: 'Change log' })
  })

  it('sends what replaces them', () => {
    const url = 'https://new.example.com/hook'
    const secret = 'a secret of the receiver'
    const values = { ...fromNotification(stored), changeUrl: true, url, changeSecret: true, secret }
    expect(toNotificationWrite(NotificationValues.parse(values), stored)).toMatchObject({ url, secret })
  })

  it('deletes the stored secret if it is replaced by nothing', () => {
    const values = NotificationValues.parse({ ...fromNotification(stored), changeSecret: true })
    expect(toNotificationWrite(values, stored)).toMatchObject({ url: stored.url, secret: null })
  })

  it('knows when the stored secret belongs to another host', () => {
    expect(isOtherHost(' https://changes.example.com/other ', stored.url)).toBe(false)
    for (const url of [
      'https://evil.example.com/x',
      'http://changes.example.com/x',
      'https://changes.example.com:8443/x',
    ])
      expect(isOtherHost(url, stored.url)).toBe(true)
    expect(isOtherHost('https://', stored.url)).toBe(false)
  })

  it('accepts the example address of each type, and refuses those of the other chats', () => {
    for (const [type, url] of Object.entries(notificationUrlExamples)) {
      expect(wrongFields({ ...typed, type, url })).toEqual([])
      if (type !== 'webhook')
        expect(wrongFields({ ...typed, type, url: notificationUrlExamples.webhook })).toEqual(['url'])
    }
    expect(wrongFields({ ...typed, url: '' })).toEqual(['url'])
    expect(wrongFields({ ...typed, type: 'webhook', url: stored.url })).toEqual(['url'])
  })

  it('requires members for an e-mail, and then sends neither address nor secret', () => {
    const mail = { ...typed, type: 'email', url: 'https://typed.before.example.com', secret: 'typed before the type' }
    expect(wrongFields(mail)).toEqual(['memberIds'])
    const sent = toNotificationWrite(NotificationValues.parse({ ...mail, memberIds: ['ada'] }))
    expect(sent).toMatchObject({ type: 'email', url: '', memberIds: ['ada'] })
    expect(sent).not.toHaveProperty('secret')
  })

  it('refuses a short secret, and sends one only to a webhook', () => {
    const url = notificationUrlExamples.webhook
    expect(wrongFields({ ...typed, type: 'webhook', url, secret: 'short' })).toEqual(['secret'])
    const chat = {
      ...typed,
      type: 'mattermost',
      url: notificationUrlExamples.mattermost,
      secret: 'typed before the type',
    }
    expect(toNotificationWrite(NotificationValues.parse(chat))).not.toHaveProperty('secret')
  })

  it('lists each event in one group', () => {
    const listed = notificationEventGroups.flatMap(({ events }) => events)
    expect([...listed].sort()).toEqual([...notificationEvents].sort())
  })
})

import { z } from 'zod'
import { endpoints } from './endpoint.ts'
import { notificationDeliveryStatuses, notificationEvents, notificationTypes } from './enums.ts'
import { limits } from './limits.ts'
import { BasicUser, Id, Name, Page, paginated, Timestamp } from './shapes.ts'

export const Notification = z.object({
  id: Id,
  name: z.string(),
  /** Masked: anyone who knows the address of a webhook can post to it. Empty for e-mail. */
  url: z.string(),
  type: z.enum(notificationTypes),
  active: z.boolean(),
  /** Why Crux switched it off, such as an address that answered 410. */
  problem: z.string().nullish(),
  enabledEvents: z.array(z.enum(notificationEvents)).optional(),
})
export const NotificationDetails = Notification.extend({
  enabledEvents: z.array(z.enum(notificationEvents)),
  /** For e-mail: the members that get it. */
  members: z.array(BasicUser.extend({ email: z.string() })).optional(),
  /** For a generic webhook: whether its requests are signed. */
  hasSecret: z.boolean().optional(),
  createdAt: Timestamp.optional(),
  updatedAt: Timestamp.optional(),
})
export const NotificationWrite = z.object({
  name: Name,
  type: z.enum(notificationTypes),
  /** The masked address of an answer keeps the stored one. Not for e-mail. */
  url: z.string().trim().max(limits.url.max).default(''),
  active: z.boolean(),
  enabledEvents: z.array(z.enum(notificationEvents)).max(notificationEvents.length),
  /** For e-mail: ids of members of the team. */
  memberIds: z.array(z.string().min(1).max(64)).max(limits.notificationMembers).nullish(),
  /** For a generic webhook: the key of the signature. If absent, an update keeps the stored one for the same origin; null deletes it. */
  secret: z.string().min(limits.webhookSecret.min).max(limits.webhookSecret.max).nullish(),
})
export type NotificationWrite = z.output<typeof NotificationWrite>
export const NotificationDelivery = z.object({
  id: Id,
  /** `test` for the test button. */
  event: z.enum([...notificationEvents, 'test']),
  /** The text of the message. */
  text: z.string(),
  createdAt: Timestamp,
  status: z.enum(notificationDeliveryStatuses),
  attempts: z.int(),
  /** The status code of the last answer. */
  statusCode: z.int().nullish(),
  /** The kind of the last error: timeout, connection, refused address, answer. Never the body of an answer. */
  error: z.string().nullish(),
  lastAttemptAt: Timestamp.nullish(),
  nextAttemptAt: Timestamp.nullish(),
  finishedAt: Timestamp.nullish(),
  /** For e-mail: the member that it goes to. */
  recipient: z.string().nullish(),
})

const notifications = '/api/:teamSlug/notifications' as const
const one = `${notifications}/:notificationId` as const

export const notificationEndpoints = endpoints({
  'notifications.list': {
    summary: 'List the notifications of a team',
    route: `GET ${notifications}`,
    response: z.array(Notification),
    permission: 'notifications.read',
  },
  'notifications.get': {
    summary: 'Get a notification',
    route: `GET ${one}`,
    response: NotificationDetails,
    permission: 'notifications.read',
  },
  'notifications.create': {
    summary: 'Create a notification',
    route: `POST ${notifications}`,
    body: NotificationWrite,
    status: 201,
    response: NotificationDetails,
    errors: ['alreadyExists'],
    permission: 'notifications.edit',
    audit: 'notification',
    auditBody: false,
  },
  'notifications.update': {
    summary: 'Update a notification',
    route: `PUT ${one}`,
    body: NotificationWrite,
    errors: ['alreadyExists'],
    permission: 'notifications.edit',
    audit: 'notification',
    auditBody: false,
  },
  'notifications.delete': {
    summary: 'Delete a notification',
    route: `DELETE ${one}`,
    permission: 'notifications.edit',
    audit: 'notification',
  },
  'notifications.test': {
    summary: 'Send a test message now; 400 with the reason if it does not arrive',
    route: `POST ${one}/test`,
    errors: ['tooManyRequests'],
    permission: 'notifications.edit',
    audit: 'notification',
  },
  'notifications.deliveries': {
    summary: 'List the deliveries of a notification, newest first',
    route: `GET ${one}/deliveries`,
    query: Page,
    response: paginated(NotificationDelivery),
    permission: 'notifications.read',
  },
  'notifications.send-again': {
    summary: 'Send the message of a delivery again, as a new delivery',
    route: `POST ${one}/deliveries/:deliveryId/send-again`,
    status: 201,
    location: 'collection',
    response: NotificationDelivery,
    errors: ['preconditionFailed', 'tooManyRequests'],
    permission: 'notifications.edit',
    audit: 'notification',
  },
})

import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import {
  createNotification,
  getNotification,
  listDeliveries,
  listNotifications,
  removeNotification,
  updateNotification,
} from './actions.ts'
import { sendAgain, testNotification } from './send-now.ts'
import type { Sender } from './sender.ts'

type Operations = Extract<keyof Handlers, `notifications.${string}`>

export const notificationRoutes = (app: App, sender: Pick<Sender, 'run'>): Handlers<Operations> => ({
  'notifications.list': ({ caller }) => listNotifications(app, caller),
  'notifications.get': ({ caller, params }) => getNotification(app, caller, params.notificationId),
  'notifications.create': ({ caller, body }) => createNotification(app, caller, body),
  'notifications.update': ({ caller, params, body }) => updateNotification(app, caller, params.notificationId, body),
  'notifications.delete': ({ caller, params }) => removeNotification(app, caller, params.notificationId),
  'notifications.test': ({ caller, params }) => testNotification(app, caller, params.notificationId),
  'notifications.deliveries': ({ caller, params, query }) => listDeliveries(app, caller, params.notificationId, query),
  'notifications.send-again': ({ caller, params }) => sendAgain(app, sender, caller, params),
})

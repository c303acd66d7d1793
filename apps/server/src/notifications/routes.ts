import { CruxError } from '@crux/contract'
import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'

type Operations = Extract<keyof Handlers, `notifications.${string}`>

const refuse = async (_app: App): Promise<never> => {
  throw new CruxError('serviceUnavailable')
}

export const notificationRoutes = (app: App): Handlers<Operations> => ({
  'notifications.list': () => refuse(app),
  'notifications.get': () => refuse(app),
  'notifications.create': () => refuse(app),
  'notifications.update': () => refuse(app),
  'notifications.delete': () => refuse(app),
  'notifications.test': () => refuse(app),
  'notifications.deliveries': () => refuse(app),
  'notifications.send-again': () => refuse(app),
})

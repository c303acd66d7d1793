import { CruxError } from '@crux/contract'
import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'

type Operations =
  | Exclude<Extract<keyof Handlers, `packages.${string}`>, `packages.${string}-freeze-window`>
  | 'projects.version-chains'

const refuse = async (_app: App): Promise<never> => {
  throw new CruxError('serviceUnavailable')
}

export const packageRoutes = (app: App): Handlers<Operations> => ({
  'projects.version-chains': () => refuse(app),
  'packages.list': () => refuse(app),
  'packages.get': () => refuse(app),
  'packages.board': () => refuse(app),
  'packages.create': () => refuse(app),
  'packages.update': () => refuse(app),
  'packages.delete': () => refuse(app),
  'packages.create-environment': () => refuse(app),
  'packages.order-environments': () => refuse(app),
  'packages.get-environment': () => refuse(app),
  'packages.update-environment': () => refuse(app),
  'packages.delete-environment': () => refuse(app),
  'packages.create-deployment': () => refuse(app),
  'packages.promotions': () => refuse(app),
  'packages.preview-promotion': () => refuse(app),
  'packages.promote': () => refuse(app),
})

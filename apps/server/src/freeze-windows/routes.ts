import { CruxError } from '@crux/contract'
import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'

type Operations = Extract<keyof Handlers, `packages.${'create' | 'update' | 'delete'}-freeze-window`>

const refuse = async (_app: App): Promise<never> => {
  throw new CruxError('serviceUnavailable')
}

export const freezeWindowRoutes = (app: App): Handlers<Operations> => ({
  'packages.create-freeze-window': () => refuse(app),
  'packages.update-freeze-window': () => refuse(app),
  'packages.delete-freeze-window': () => refuse(app),
})

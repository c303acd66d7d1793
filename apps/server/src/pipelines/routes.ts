import { CruxError } from '@crux/contract'
import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'

type Operations = Extract<keyof Handlers, `pipelines.${string}`>

const refuse = async (_app: App): Promise<never> => {
  throw new CruxError('serviceUnavailable')
}

export const pipelineRoutes = (app: App): Handlers<Operations> => ({
  'pipelines.list': () => refuse(app),
  'pipelines.get': () => refuse(app),
  'pipelines.create': () => refuse(app),
  'pipelines.update': () => refuse(app),
  'pipelines.delete': () => refuse(app),
  'pipelines.runs': () => refuse(app),
  'pipelines.trigger': () => refuse(app),
  'pipelines.create-event-watcher': () => refuse(app),
  'pipelines.update-event-watcher': () => refuse(app),
  'pipelines.delete-event-watcher': () => refuse(app),
  'pipelines.hook-azure': () => refuse(app),
  'pipelines.hook-github': () => refuse(app),
  'pipelines.hook-gitlab': () => refuse(app),
})

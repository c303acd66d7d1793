import type { App } from '../context.ts'
import type { Handlers, Input } from '../http/index.ts'
import { createPipeline, deletePipeline, getPipeline, listPipelines, updatePipeline } from './actions.ts'
import { createHookHandlers } from './hook.ts'
import { listRuns, triggerPipeline } from './runs.ts'
import { createWatcher, deleteWatcher, updateWatcher } from './watchers.ts'

type Operations = Extract<keyof Handlers, `pipelines.${string}`>

export function pipelineRoutes(app: App): Handlers<Operations> {
  const hooks = createHookHandlers(app)
  return {
    'pipelines.list': ({ caller }) => listPipelines(app, caller),
    'pipelines.get': ({ caller, params }) => getPipeline(app, caller, params.pipelineId),
    'pipelines.create': ({ caller, body }) => createPipeline(app, caller, body),
    'pipelines.update': async ({ caller, params, body, reply }) =>
      withStatus(reply, await updatePipeline(app, caller, params.pipelineId, body)),
    'pipelines.delete': async ({ caller, params, reply }) =>
      withStatus(reply, await deletePipeline(app, caller, params.pipelineId)),
    'pipelines.runs': ({ caller, params, query }) => listRuns(app, caller, params.pipelineId, query),
    'pipelines.trigger': ({ caller, params, body }) => triggerPipeline(app, caller, params.pipelineId, body?.inputs),
    'pipelines.create-event-watcher': ({ caller, params, body }) => createWatcher(app, caller, params.pipelineId, body),
    'pipelines.update-event-watcher': ({ caller, params, body }) => updateWatcher(app, caller, params, body),
    'pipelines.delete-event-watcher': ({ caller, params }) => deleteWatcher(app, caller, params),
    'pipelines.hook-azure': ({ params, body }) => hooks.azure(params, body),
    'pipelines.hook-github': ({ params, headers, body }) => hooks.github(params, headers, body),
    'pipelines.hook-gitlab': ({ params, body }) => hooks.gitlab(params, body),
  }
}

/** 200 with an answer, 204 without one. */
function withStatus<T>(reply: Input<Operations>['reply'], answer: T): T {
  if (answer !== undefined) reply.status(200)
  return answer
}

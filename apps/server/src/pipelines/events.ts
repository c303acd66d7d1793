import type { App } from '../context.ts'

/** Tells every server that the state of a run has changed. */
export const publishRun = (app: Pick<App, 'bus'>, run: { teamId: string; pipelineId: string; runId: string }): void =>
  app.bus.publish({ type: 'pipeline.run', ...run })

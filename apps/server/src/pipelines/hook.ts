import { type Body, CruxError, type Params } from '@crux/contract'
import type { App } from '../context.ts'
import { azureRunEvent, readAzureRun } from './api/azure-api.ts'
import { isDispatched, listRunIds, readGithubRun } from './api/github-api.ts'
import { readGitlabRun } from './api/gitlab-api.ts'
import type { RunReport } from './api/pipeline-api.ts'
import { toRecord } from './api/service-client.ts'
import { publishRun } from './events.ts'
import { selectRunByNumber, selectRunWithoutNumber, storeReport } from './run-store.ts'
import { selectTeamOfPipeline, touchHook } from './store.ts'

type HookParams = Params<'pipelines.hook-azure'>
type ForeignBody = Body<'pipelines.hook-azure'>
type Headers = Record<string, string | string[] | undefined>
type Delivery = { report: RunReport; runIds?: readonly string[] }

/**
 * Handles the deliveries of services. The guard has verified each for the pipeline of its path, so that a delivery can
 * reach runs of that pipeline alone. They may be repeated and late: `storeReport` lets no state go backwards.
 */
export const createHookHandlers = (app: App) => ({
  /** @throws CruxError invalidArgument `eventType`, `resource.run`; notFound for a run that Crux did not start */
  async azure({ pipelineId }: HookParams, body: ForeignBody): Promise<void> {
    if (body.eventType !== azureRunEvent)
      throw new CruxError('invalidArgument', {
        property: 'eventType',
        description: `Only the event ${azureRunEvent} is received here.`,
      })
    const report = readAzureRun(toRecord(toRecord(body.resource).run))
    if (report.externalId === undefined)
      throw new CruxError('invalidArgument', {
        property: 'resource.run',
        description: 'The event does not say which run it is about.',
      })
    if (!(await receive(app, pipelineId, { report })))
      throw new CruxError('notFound', { property: 'resource.run.id', value: String(report.externalId) })
  },
  // GitHub and GitLab report every run of a repository to this hook, and switch hooks off whose deliveries are refused:
  // a run that Crux did not start is accepted and ignored.
  async github({ pipelineId }: HookParams, headers: Headers, body: ForeignBody): Promise<void> {
    const run = toRecord(body.workflow_run)
    const isRun = headers['x-github-event'] === 'workflow_run'
    await receive(
      app,
      pipelineId,
      isRun ? { report: readGithubRun(run), runIds: isDispatched(run) ? listRunIds(run) : [] } : undefined,
    )
  },
  async gitlab({ pipelineId }: HookParams, body: ForeignBody): Promise<void> {
    const isRun = body.object_kind === 'pipeline'
    await receive(app, pipelineId, isRun ? { report: readGitlabRun(toRecord(body.object_attributes)) } : undefined)
  },
})

/** @returns false when the delivery is about no run of the pipeline */
async function receive(app: App, pipelineId: string, delivery: Delivery | undefined): Promise<boolean> {
  const { pool } = app.database
  await touchHook(pool, pipelineId)
  if (!delivery) return false
  const { report, runIds = [] } = delivery
  if (report.externalId === undefined) return false
  const runId =
    (await selectRunByNumber(pool, pipelineId, report.externalId)) ??
    (runIds.length > 0 ? await selectRunWithoutNumber(pool, pipelineId, runIds) : undefined)
  if (runId === undefined) return false
  if (await storeReport(pool, runId, report)) {
    const teamId = await selectTeamOfPipeline(pool, pipelineId)
    if (teamId !== undefined) publishRun(app, { teamId, pipelineId, runId })
  }
  return true
}

import type { ResponseOf } from '@crux/contract'
import { apiQuery } from '../../api/client.ts'

export type PipelineDetails = ResponseOf<'pipelines.get'>
export type EventWatcher = PipelineDetails['eventWatchers'][number]
export type PipelineParams = { teamSlug: string; pipelineId: string }
export type RunsPage = ResponseOf<'pipelines.runs'>
export type Run = RunsPage['items'][number]

export const firstRuns = { skip: 0, take: 20 }

/** One page of the runs of a pipeline, newest first. The plot of the page shows the first one. */
export const runsQuery = ({ teamSlug, pipelineId }: PipelineParams, page = firstRuns) =>
  apiQuery('pipelines.runs', { params: { teamSlug, pipelineId }, query: page })

import type { Received } from '@crux/client'
import type { ResponseOf } from '@crux/contract'
import { queryClient, queryKey } from '../../api/client.ts'
import { useChannel } from '../../api/live.ts'
import type { PipelineDetails, Run, RunsPage } from './run-queries.ts'

type Update = Received<'pipelines', 'pipeline-status'>

/** Keeps the states of the team's runs fresh while a page of pipelines is open. */
export function usePipelinesLive(teamSlug: string): void {
  const params = { teamSlug }
  const refetch = (keys: readonly (readonly unknown[])[]) => {
    for (const queryKey of keys) void queryClient.invalidateQueries({ queryKey })
  }
  useChannel('pipelines', params, {
    // Updates were missed while the channel was closed.
    ready: () => refetch([queryKey('pipelines.list'), queryKey('pipelines.get'), queryKey('pipelines.runs')]),
    'pipeline-status': (update) => {
      const inPipeline = { params: { ...params, pipelineId: update.pipelineId } }
      queryClient.setQueryData<ResponseOf<'pipelines.list'>>(queryKey('pipelines.list', { params }), (pipelines) =>
        pipelines?.map((pipeline) => (pipeline.id === update.pipelineId ? withLastRun(pipeline, update) : pipeline)),
      )
      queryClient.setQueryData<PipelineDetails>(
        queryKey('pipelines.get', inPipeline),
        (pipeline) => pipeline && withLastRun(pipeline, update),
      )
      queryClient.setQueriesData<RunsPage>(
        { queryKey: queryKey('pipelines.runs', inPipeline) },
        (page) => page && { ...page, items: page.items.map((run) => withUpdate(run, update)) },
      )
      // The message has neither the reason nor the page of the run, and may be about a run that is not listed yet.
      refetch([
        queryKey('pipelines.list', { params }),
        queryKey('pipelines.get', inPipeline),
        queryKey('pipelines.runs', inPipeline),
      ])
    },
  })
}

const withLastRun = <P extends { lastRun?: Run | null }>(pipeline: P, update: Update): P =>
  pipeline.lastRun ? { ...pipeline, lastRun: withUpdate(pipeline.lastRun, update) } : pipeline

const withUpdate = (run: Run, { runId, status, finishedAt }: Update): Run =>
  run.id === runId ? { ...run, status, finishedAt: finishedAt ?? run.finishedAt } : run

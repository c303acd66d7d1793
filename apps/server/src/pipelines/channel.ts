import { createQueue } from '@crux/service-kit'
import type { App } from '../context.ts'
import { type ChannelHandlers, createAudience, type Subscriber } from '../live/index.ts'
import { type RunRow, selectLastRunsOfTeam, selectRun, toRun } from './run-store.ts'

/** The runs of a team: every change of a state, read once per change for all subscribers. */
export function pipelineChannels(app: App): ChannelHandlers<'pipelines'> {
  const teams = createAudience<Subscriber<'pipelines'>>()
  const inTurn = createQueue()

  function send(teamId: string, row: RunRow) {
    const { startedBy, finishedAt, status } = toRun(row)
    const data = { pipelineId: row.pipelineId, runId: row.id, status, finishedAt, ...(startedBy && { startedBy }) }
    for (const subscriber of teams.of(teamId)) subscriber.send('pipeline-status', data)
  }

  app.bus.on('pipeline.run', ({ teamId, runId }) => {
    if (!teams.has(teamId)) return
    inTurn(teamId, async () => {
      const row = await selectRun(app.database.pool, runId)
      if (row) send(teamId, row)
    }).catch((err: unknown) => app.log.warn({ err, runId }, 'a state of a run was not published'))
  })
  app.bus.onReconnected(() => {
    for (const teamId of teams.keys())
      inTurn(teamId, async () => {
        for (const row of await selectLastRunsOfTeam(app.database.pool, teamId)) send(teamId, row)
      }).catch((err: unknown) => app.log.warn({ err, teamId }, 'the runs could not be read again'))
  })

  return {
    pipelines: {
      open: async (subscriber) => teams.join(subscriber.team.id, subscriber),
      messages: {},
    },
  }
}

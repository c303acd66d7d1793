import type { ServerData } from '@crux/contract'
import { createQueue } from '@crux/service-kit'
import type { App } from '../context.ts'
import { type ChannelHandler, type ChannelHandlers, createAudience, type Subscriber } from '../live/index.ts'
import { findNodeOfAnyTeam, findNodes, toNode } from './store.ts'
import { updateAgent } from './updates.ts'

export const nodeChannels = (app: App): ChannelHandlers<'nodes'> => ({ nodes: nodesChannel(app) })

/** The nodes of a team: first the status of each, then every change, read once per change for all subscribers. */
function nodesChannel(app: App): ChannelHandler<'nodes'> {
  const teams = createAudience<Subscriber<'nodes'>>()
  const inTurn = createQueue()

  app.bus.on('node.changed', ({ teamId, nodeId, error }) => {
    if (!teams.has(teamId)) return
    inTurn(teamId, () => publish(teamId, nodeId, error)).catch((err: unknown) =>
      app.log.warn({ err, nodeId }, 'a change of a node was not published'),
    )
  })
  app.bus.onReconnected(() => {
    for (const teamId of teams.keys()) {
      inTurn(teamId, async () => {
        const rows = await findNodes(app, teamId)
        for (const subscriber of teams.of(teamId)) for (const row of rows) subscriber.send('event', toNode(row))
      }).catch((err: unknown) => app.log.warn({ err, teamId }, 'the nodes could not be read again'))
    }
  })

  async function publish(teamId: string, nodeId: string, error: string | undefined) {
    const row = await findNodeOfAnyTeam(app, nodeId)
    const event: ServerData<'nodes', 'event'> = row ? { ...toNode(row), error } : { id: nodeId, status: 'unreachable' }
    for (const subscriber of teams.of(teamId)) subscriber.send('event', event)
  }

  return {
    async open(subscriber) {
      const teamId = subscriber.team.id
      teams.join(teamId, subscriber)
      await inTurn(teamId, async () => {
        for (const row of await findNodes(app, teamId)) subscriber.send('event', toNode(row))
      })
    },
    messages: {
      'update-agent': ({ team, actor }, { id }) => updateAgent(app, { team, actor }, id),
    },
  }
}

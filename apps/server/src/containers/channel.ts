import { CruxError, limits } from '@crux/contract'
import type { App } from '../context.ts'
import type { ChannelHandler, ChannelHandlers, Subscriber } from '../live/index.ts'
import { requireNode } from '../nodes/index.ts'
import { deleteContainer, operateContainer } from './actions.ts'
import { LogWatch } from './log-watch.ts'
import { createStateWatches } from './state-watch.ts'
import { findTarget } from './store.ts'

/** Each log is a stream at the agent, so that their number per subscriber is limited. */
const logsMax = 16

export const containerChannels = (app: App): ChannelHandlers<'node'> => ({ node: nodeChannel(app) })

/** The channel of one node: its containers, and their logs. */
export function nodeChannel(app: App): ChannelHandler<'node'> {
  const states = createStateWatches(app)
  const logs = new Map<Subscriber<'node'>, Map<string, LogWatch>>()

  type Ref = { prefix: string; name: string }

  const toKey = (container: Ref) => `${container.prefix}/${container.name}`

  /** Replaces the subscriber's previous view of this container. */
  async function follow(
    subscriber: Subscriber<'node'>,
    container: Ref,
    { batch, pod, take }: { take: number; batch: boolean; pod: string | undefined },
  ) {
    // Clients without batches get one message per line, which would be too slow for more lines.
    if (!batch && take > limits.logTake.max) {
      const description = `Use ${limits.logTake.max} or less, or ask for batches`
      throw new CruxError('invalidArgument', { property: 'take', value: take, description })
    }
    const mine = logs.get(subscriber) ?? new Map<string, LogWatch>()
    if (!logs.has(subscriber)) {
      logs.set(subscriber, mine)
      subscriber.onLeave(() => {
        for (const watch of mine.values()) watch.close()
        logs.delete(subscriber)
      })
    }
    const key = toKey(container)
    mine.get(key)?.close()
    mine.delete(key)
    if (mine.size >= logsMax) {
      throw new CruxError('tooManyRequests', { description: `Up to ${logsMax} logs can be followed at once.` })
    }
    subscriber.send('container-log-started', { container, take })
    const { nodeId } = subscriber.params
    const watch = new LogWatch(app, { nodeId, container, pod, take, batch, subscriber })
    mine.set(key, watch)
    await watch.opened
  }

  return {
    open: async (subscriber) => {
      await requireNode(app, subscriber.team, subscriber.params.nodeId)
    },
    messages: {
      'container-command': ({ team, actor, params }, { container, operation }) =>
        operateContainer(app, { team, actor }, params.nodeId, container, operation),
      'delete-container': ({ team, actor, params }, { container }) =>
        deleteContainer(app, { team, actor }, params.nodeId, container),
      'watch-containers-state': async (subscriber, { prefix, deploymentId }) => {
        const filter = deploymentId
          ? await findTarget(app.database.pool, {
              deploymentId,
              teamId: subscriber.team.id,
              nodeId: subscriber.params.nodeId,
            })
          : { prefix: prefix || null, projectId: null }
        await states.watch(subscriber.params.nodeId, subscriber, filter)
      },
      'watch-container-log': (subscriber, { container, take = limits.logTake.default, batch = false, pod }) =>
        follow(subscriber, container, { take, batch, pod }),
      'set-container-log-take': (subscriber, { container, take }) => {
        const { batch = false, pod } = logs.get(subscriber)?.get(toKey(container)) ?? {}
        return follow(subscriber, container, { take, batch, pod })
      },
      'unwatch-container-log': async (subscriber, { container }) => {
        const mine = logs.get(subscriber)
        mine?.get(toKey(container))?.close()
        mine?.delete(toKey(container))
      },
    },
  }
}

import { type ContainerConfig, CruxError, containerConfigFieldNames } from '@crux/contract'
import { createQueue } from '@crux/service-kit'
import type { App } from '../context.ts'
import { type ChannelHandler, type ChannelHandlers, createAudience, type Subscriber } from '../live/index.ts'
import { getConfig, patchConfig } from './actions.ts'
import { knownSecrets } from './secrets.ts'
import { readConfig, toContainerConfig } from './store.ts'

type ChannelSubscriber = Subscriber<'container-configuration'>

const emptyFields = Object.fromEntries(containerConfigFieldNames.map((name) => [name, null]))

/** The live channels of a configuration page. The database is read once per change and process for all subscribers. */
export function containerConfigurationChannels(app: App): ChannelHandlers<'container-configuration'> {
  const audience = createAudience<ChannelSubscriber>()
  /** The deployment of each configuration that has a subscriber. */
  const targets = new Map<string, { nodeId: string; deploymentId: string }>()

  async function publish(configId: string) {
    if (!audience.has(configId)) return
    const row = await readConfig(app.database.pool, configId)
    if (!row) return
    // Clients merge the message into what they show, so that a cleared field must be included as null.
    const config: ContainerConfig = { ...emptyFields, ...toContainerConfig(row) }
    for (const subscriber of audience.of(configId)) subscriber.send('config-updated', config)
  }
  const inTurn = createQueue()
  const publishSafely = (configId: string) =>
    inTurn(configId, () => publish(configId)).catch((err: unknown) =>
      app.log.warn({ err, configId }, 'a changed configuration was not sent'),
    )

  /** Sends the secrets of the node again, because they have changed or may have changed. */
  function publishSecrets(concerned: (target: { nodeId: string; deploymentId: string }) => boolean) {
    for (const [configId, target] of targets) {
      if (!concerned(target)) continue
      for (const subscriber of audience.of(configId))
        sendSecrets(subscriber).catch((err: unknown) => app.log.warn({ err, configId }, 'known secrets were not sent'))
    }
  }
  async function sendSecrets(subscriber: ChannelSubscriber) {
    subscriber.send(
      'config-secrets',
      await knownSecrets(app, await getConfig(app, subscriber.team, subscriber.params.configId)),
    )
  }

  app.bus.on('node.changed', ({ nodeId, status }) => {
    if (status === 'connected') publishSecrets((target) => target.nodeId === nodeId)
  })
  app.bus.on('deployment.changed', ({ deploymentId, status }) => {
    if (status === 'successful') publishSecrets((target) => target.deploymentId === deploymentId)
  })
  app.bus.on('config.changed', ({ configId }) => void publishSafely(configId))
  app.bus.onReconnected(() => {
    for (const configId of audience.keys()) void publishSafely(configId)
  })

  const channel: ChannelHandler<'container-configuration'> = {
    async open(subscriber) {
      const { configId } = subscriber.params
      const { deployment } = await getConfig(app, subscriber.team, configId)
      audience.join(configId, subscriber, () => targets.delete(configId))
      if (deployment) targets.set(configId, { nodeId: deployment.node.id, deploymentId: deployment.id })
    },
    messages: {
      async 'patch-config'(subscriber, { id: _, ...patch }) {
        try {
          const { config } = await patchConfig(app, subscriber, subscriber.params.configId, patch, subscriber.id)
          subscriber.send('patch-received', { revision: config.revision ?? 0 })
        } catch (error) {
          if (!(error instanceof CruxError) || error.code !== 'patchConflict') throw error
          subscriber.send(
            'patch-conflict',
            error.value as { conflicts: { property: string; value: unknown }[]; revision: number },
          )
        }
      },
      'get-config-secrets': sendSecrets,
    },
  }
  return { 'container-configuration': channel }
}

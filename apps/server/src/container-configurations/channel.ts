import { type ContainerConfig, CruxError, containerConfigFieldNames } from '@crux/contract'
import type { App } from '../context.ts'
import type { ChannelHandler, ChannelHandlers, Subscriber } from '../live/handlers.ts'
import { createTurns } from '../live/turns.ts'
import { getConfig, patchConfig } from './actions.ts'
import { knownSecrets } from './secrets.ts'
import { readConfig, toContainerConfig } from './store.ts'

type Looker = Subscriber<'container-configuration'>

const emptyFields = Object.fromEntries(containerConfigFieldNames.map((name) => [name, null]))

/** The live side of a configuration page. One read of the database per change and process, however many look. */
export function containerConfigurationChannels(app: App): ChannelHandlers<'container-configuration'> {
  const lookers = new Map<string, Set<Looker>>()
  /** Where the configuration that somebody looks at is deployed. */
  const places = new Map<string, { nodeId: string; deploymentId: string }>()

  async function tell(configId: string) {
    if (!lookers.has(configId)) return
    const row = await readConfig(app.database.pool, configId)
    if (!row) return
    // Clients merge the message into what they show: a field that was cleared has to be there as null.
    const config: ContainerConfig = { ...emptyFields, ...toContainerConfig(row) }
    for (const looker of lookers.get(configId) ?? []) looker.send('config-updated', config)
  }
  const inTurn = createTurns()
  const tellSafely = (configId: string) =>
    inTurn(configId, () => tell(configId)).catch((err: unknown) =>
      app.log.warn({ err, configId }, 'a changed configuration was not sent'),
    )

  /** What the node knows of secrets has changed, or nobody knows whether. */
  function tellSecrets(concerned: (place: { nodeId: string; deploymentId: string }) => boolean) {
    for (const [configId, place] of places) {
      if (!concerned(place)) continue
      for (const looker of lookers.get(configId) ?? [])
        sendSecrets(looker).catch((err: unknown) => app.log.warn({ err, configId }, 'known secrets were not sent'))
    }
  }
  async function sendSecrets(looker: Looker) {
    looker.send('config-secrets', await knownSecrets(app, await getConfig(app, looker.team, looker.params.configId)))
  }

  app.bus.on('node.changed', ({ nodeId, status }) => {
    if (status === 'connected') tellSecrets((place) => place.nodeId === nodeId)
  })
  app.bus.on('deployment.changed', ({ deploymentId, status }) => {
    if (status === 'successful') tellSecrets((place) => place.deploymentId === deploymentId)
  })
  app.bus.on('config.changed', ({ configId }) => void tellSafely(configId))
  app.bus.onReconnected(() => {
    for (const configId of lookers.keys()) void tellSafely(configId)
  })

  const channel: ChannelHandler<'container-configuration'> = {
    async open(looker) {
      const { configId } = looker.params
      const { deployment } = await getConfig(app, looker.team, configId)
      const all = lookers.get(configId) ?? new Set()
      lookers.set(configId, all.add(looker))
      if (deployment) places.set(configId, { nodeId: deployment.node.id, deploymentId: deployment.id })
      looker.onLeave(() => {
        all.delete(looker)
        if (all.size > 0 || lookers.get(configId) !== all) return
        lookers.delete(configId)
        places.delete(configId)
      })
    },
    messages: {
      async 'patch-config'(looker, { id: _, ...patch }) {
        try {
          const { config } = await patchConfig(app, looker, looker.params.configId, patch, looker.id)
          looker.send('patch-received', { revision: config.revision ?? 0 })
        } catch (error) {
          if (!(error instanceof CruxError) || error.code !== 'patchConflict') throw error
          looker.send(
            'patch-conflict',
            error.value as { conflicts: { property: string; value: unknown }[]; revision: number },
          )
        }
      },
      'get-config-secrets': sendSecrets,
      // Presence is the hub's: it answers these before a channel sees them.
      'focus-input': async () => undefined,
      'blur-input': async () => undefined,
    },
  }
  return { 'container-configuration': channel }
}

import { type ContainerConfig, CruxError } from '@crux/contract'
import type { App } from '../context.ts'
import type { ChannelHandler, ChannelHandlers, Subscriber } from '../live/handlers.ts'
import { getConfig, patchConfig } from './actions.ts'
import { knownSecrets } from './secrets.ts'
import { readConfig, toContainerConfig } from './store.ts'

type Looker = Subscriber<'container-configuration'>

/** The live side of a configuration page. One read of the database per change and process, however many look. */
export function containerConfigurationChannels(app: App): ChannelHandlers<'container-configuration'> {
  const lookers = new Map<string, Set<Looker>>()

  async function tell(configId: string) {
    if (!lookers.has(configId)) return
    const row = await readConfig(app.database.pool, configId)
    if (!row) return
    const config: ContainerConfig = toContainerConfig(row)
    for (const looker of lookers.get(configId) ?? []) looker.send('config-updated', config)
  }
  const tellSafely = (configId: string) =>
    tell(configId).catch((err: unknown) => app.log.warn({ err, configId }, 'a changed configuration was not sent'))

  app.bus.on('config.changed', ({ configId }) => void tellSafely(configId))
  app.bus.onReconnected(() => {
    for (const configId of lookers.keys()) void tellSafely(configId)
  })

  const channel: ChannelHandler<'container-configuration'> = {
    async open(looker) {
      const { configId } = looker.params
      await getConfig(app, looker.team, configId)
      const all = lookers.get(configId) ?? new Set()
      lookers.set(configId, all.add(looker))
      looker.onLeave(() => {
        all.delete(looker)
        if (all.size === 0 && lookers.get(configId) === all) lookers.delete(configId)
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
      async 'get-config-secrets'(looker) {
        const config = await getConfig(app, looker.team, looker.params.configId)
        looker.send('config-secrets', await knownSecrets(app, config))
      },
      // Presence is the hub's: it answers these before a channel sees them.
      'focus-input': async () => undefined,
      'blur-input': async () => undefined,
    },
  }
  return { 'container-configuration': channel }
}

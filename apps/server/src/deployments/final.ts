import type { FinalContainerConfig, ResponseInput } from '@crux/contract'
import { notApplied } from '@crux/rules'
import type { App } from '../context.ts'
import type { TeamContext } from '../http/handlers.ts'
import { loadDeployment } from './load.ts'

/** What a start would deploy, instance by instance: loaded and merged by the code of the start. */
export async function finalConfigurations(
  app: App,
  team: TeamContext,
  deploymentId: string,
): Promise<ResponseInput<'deployments.final-configuration'>> {
  const { instances, node } = await loadDeployment(app.database.pool, team.id, deploymentId, { lock: false })
  return instances.map(({ id, config, origins }) => ({
    instanceId: id,
    containerName: config.name,
    config: withoutSecrets(config),
    origins: Object.fromEntries(origins()),
    notApplied: notApplied(config, node.type).flatMap(({ property, partly }) => (partly ? [] : [property])),
  }))
}

/** `encrypted` stays: that there is a value may be known, the value not even encrypted. */
const withoutSecrets = (config: FinalContainerConfig): FinalContainerConfig => ({
  ...config,
  secrets: config.secrets.map(({ id, key, required, value, encrypted }) => ({
    ...(id && { id }),
    key,
    required,
    encrypted: Boolean(value) && encrypted === true,
  })),
})

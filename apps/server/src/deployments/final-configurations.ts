import type { FinalContainerConfig, ResponseInput } from '@crux/contract'
import { notApplied } from '@crux/rules'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import { loadDeployment } from '../releases/index.ts'

/** The configurations that a start would deploy, per instance, loaded and merged by the code of the start. */
export async function finalConfigurations(
  app: App,
  { team }: Caller,
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

/** `encrypted` is kept: the viewer may know that a value exists, but does not get even its encrypted form. */
const withoutSecrets = (config: FinalContainerConfig): FinalContainerConfig => ({
  ...config,
  secrets: config.secrets.map(({ id, key, required, value, encrypted }) => ({
    ...(id && { id }),
    key,
    required,
    encrypted: Boolean(value) && encrypted === true,
  })),
})

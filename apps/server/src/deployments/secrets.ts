import { CruxError, type ResponseInput } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import { finalOfInstance, getConfig, keysOnNode, type OwnedConfig } from '../container-configurations/index.ts'
import type { App } from '../context.ts'
import { loadDeployment } from '../releases/index.ts'
import { getInstance } from './instance-store.ts'

/** The prefix's shared secrets that the node has. @throws CruxError notFound; preconditionFailed `nodeId` (offline) */
export async function getDeploymentSecrets(
  app: App,
  { team }: Caller,
  deploymentId: string,
): Promise<ResponseInput<'deployments.secrets'>> {
  const { configId } = await loadDeployment(app.database.pool, team.id, deploymentId, { lock: false })
  return toAnswer(app, await getConfig(app, team, configId))
}

/** The secrets that an instance's container has. @throws as `getDeploymentSecrets` */
export async function getInstanceSecrets(
  app: App,
  caller: Caller,
  params: { deploymentId: string; instanceId: string },
): Promise<ResponseInput<'deployments.instance-secrets'>> {
  const instance = await getInstance(app, caller, params)
  const config = await getConfig(app, caller.team, instance.config.id)
  const container = { prefix: config.deployment?.prefix ?? '', name: finalOfInstance(config)?.name ?? '' }
  return { ...(await toAnswer(app, config)), container }
}

async function toAnswer(app: App, config: OwnedConfig): Promise<ResponseInput<'deployments.secrets'>> {
  const node = config.deployment?.node
  if (!node?.publicKey || app.links.status(node.id) !== 'connected')
    throw new CruxError('preconditionFailed', {
      property: 'nodeId',
      value: node?.id,
      description: `${node?.name ?? 'The node'} is not connected, so its secrets cannot be listed.`,
    })
  return { publicKey: node.publicKey, keys: await keysOnNode(app, config) }
}

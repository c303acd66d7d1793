import { ContainerConfigFields, CruxError } from '@crux/contract'
import type { App } from '../context.ts'
import { sharedSecrets } from '../deployments/shared-secrets.ts'
import { finalOfInstance } from './layers.ts'
import type { OwnedConfig } from './store.ts'

/** `shared`: keys to which another deployment of the prefix gives a value, where this one names them and has none. */
export type KnownSecrets = { keys: string[]; publicKey: string | null; shared: string[] }

/** As the agent writes them onto containers: whose one is, and the keys of its secrets, never the values. */
const label = { team: 'dev.crux.team', secretKeys: 'dev.crux.secret.keys' }

/** Which keys the node has already, and the key to encrypt new values with. Without the node: no keys. */
export async function knownSecrets(app: App, config: OwnedConfig): Promise<KnownSecrets> {
  const { deployment } = config
  if (!deployment) return { keys: [], publicKey: null, shared: [] }
  const { publicKey, id: nodeId } = deployment.node
  const shared = (await sharedSecrets(app.database.pool, deployment.id)).map(({ key }) => key)
  if (app.links.status(nodeId) !== 'connected') return { keys: [], publicKey, shared }
  try {
    return { keys: await keysOnNode(app, config), publicKey, shared }
  } catch (error) {
    // The node just left: nothing is defined there as far as anyone knows.
    if (error instanceof CruxError) return { keys: [], publicKey, shared }
    throw error
  }
}

/**
 * The keys of an instance's container, or, for a deployment's layer, those of the prefix's shared secrets that any of its containers has.
 *
 * @throws CruxError as `NodeLinks.request`
 */
export async function keysOnNode(app: App, config: OwnedConfig): Promise<string[]> {
  const { deployment, row } = config
  if (!deployment) return []
  return row.type === 'instance' ? keysOfContainer(app, config, deployment) : keysOfPrefix(app, config, deployment)
}

type Deployment = NonNullable<OwnedConfig['deployment']>

async function keysOfContainer(app: App, config: OwnedConfig, { node, prefix }: Deployment): Promise<string[]> {
  try {
    const result = await app.links.request(node.id, {
      case: 'inspectContainer',
      value: { container: { prefix, name: finalOfInstance(config)?.name ?? '' } },
    })
    if (result.case !== 'inspection') return []
    const inspection = JSON.parse(result.value.json) as { Config?: { Labels?: Record<string, string> | null } }
    return keysIn(config, inspection.Config?.Labels ?? {})
  } catch (error) {
    // No container yet.
    if (error instanceof CruxError && error.code === 'notFound' && error.property === 'key') return []
    throw error
  }
}

async function keysOfPrefix(app: App, config: OwnedConfig, { id, node, prefix }: Deployment): Promise<string[]> {
  const result = await app.links.request(node.id, { case: 'listContainers', value: { prefix } })
  if (result.case !== 'containers') return []
  const held = new Set(result.value.containers.flatMap(({ labels }) => keysIn(config, labels)))
  const own = (ContainerConfigFields.parse(config.row.fields).secrets ?? []).filter((row) => row.value)
  const shared = await sharedSecrets(app.database.pool, id)
  return [...new Set([...own, ...shared].map(({ key }) => key))].filter((key) => held.has(key))
}

/** Of a container of another team nothing is said. */
const keysIn = ({ teamId }: OwnedConfig, labels: Record<string, string>): string[] =>
  labels[label.team] === teamId ? (labels[label.secretKeys] ?? '').split(',').filter((key) => key !== '') : []

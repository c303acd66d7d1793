import { ContainerConfigFields, CruxError } from '@crux/contract'
import { z } from 'zod'
import type { App } from '../context.ts'
import { engineScope } from '../nodes/index.ts'
import { finalOfInstance } from './layers.ts'
import { sharedSecrets } from './shared-secret-store.ts'
import type { OwnedConfig } from './store.ts'

/** `shared`: keys without a value here for which another deployment of the prefix has one. */
export type KnownSecrets = { keys: string[]; publicKey: string | null; shared: string[] }

/** The label that the agent writes onto containers: the keys of the secrets, never the values. */
const secretKeysLabel = 'dev.crux.secret.keys'

/** The keys that the node already has, and the key to encrypt new values with. Without the node: no keys. */
export async function knownSecrets(app: App, config: OwnedConfig): Promise<KnownSecrets> {
  const { deployment } = config
  if (!deployment) return { keys: [], publicKey: null, shared: [] }
  const { publicKey, id: nodeId } = deployment.node
  const shared = (await sharedSecrets(app.database.pool, deployment.id)).map(({ key }) => key)
  if (app.links.status(nodeId) !== 'connected') return { keys: [], publicKey, shared }
  try {
    return { keys: await keysOnNode(app, config), publicKey, shared }
  } catch (error) {
    // The node has just disconnected, so that no keys are known there.
    if (error instanceof CruxError) return { keys: [], publicKey, shared }
    throw error
  }
}

/**
 * The keys of an instance's container, or, for a deployment's layer, those of the prefix's shared secrets that any of
 * its containers has.
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
      value: {
        container: { prefix, name: finalOfInstance(config)?.name ?? '' },
        scope: await engineScope(app, { teamId: config.teamId, nodeId: node.id }),
      },
    })
    if (result.case !== 'inspection') return []
    return keysIn(getLabels(result.value.json))
  } catch (error) {
    // There is no container yet.
    if (error instanceof CruxError && error.code === 'notFound' && error.property === 'key') return []
    throw error
  }
}

async function keysOfPrefix(app: App, config: OwnedConfig, { id, node, prefix }: Deployment): Promise<string[]> {
  const scope = await engineScope(app, { teamId: config.teamId, nodeId: node.id })
  const result = await app.links.request(node.id, { case: 'listContainers', value: { prefix, scope } })
  if (result.case !== 'containers') return []
  const held = new Set(result.value.containers.flatMap(({ owned, labels }) => (owned ? keysIn(labels) : [])))
  const own = (ContainerConfigFields.parse(config.row.fields).secrets ?? []).filter((row) => row.value)
  const shared = await sharedSecrets(app.database.pool, id)
  return [...new Set([...own, ...shared].map(({ key }) => key))].filter((key) => held.has(key))
}

/** An inspection is text from the agent; a malformed one has no labels. */
function getLabels(json: string): Readonly<Record<string, unknown>> {
  const parsed = Inspection.safeParse(JSON.parse(json))
  return parsed.success ? (parsed.data.Config?.Labels ?? {}) : {}
}

const Inspection = z.object({
  Config: z.object({ Labels: z.record(z.string(), z.unknown()).nullish() }).optional(),
})

function keysIn(labels: Readonly<Record<string, unknown>>): string[] {
  const keys = labels[secretKeysLabel]
  return typeof keys === 'string' ? keys.split(',').filter((key) => key !== '') : []
}

import { CruxError } from '@crux/contract'
import type { App } from '../context.ts'
import { finalOfInstance } from './layers.ts'
import type { OwnedConfig } from './store.ts'

export type KnownSecrets = { keys: string[]; publicKey: string | null }

/** As the agent writes it onto containers: the keys, never the values. */
const secretKeysLabel = 'dev.crux.secret.keys'

/** Which keys the node has already for this instance, and the key to encrypt new values with. Without the node: no keys. */
export async function knownSecrets(app: App, config: OwnedConfig): Promise<KnownSecrets> {
  const { deployment } = config
  if (!deployment) return { keys: [], publicKey: null }
  const publicKey = deployment.node.publicKey
  if (config.row.type !== 'instance' || app.links.status(deployment.node.id) !== 'connected')
    return { keys: [], publicKey }
  try {
    const result = await app.links.request(deployment.node.id, {
      case: 'inspectContainer',
      value: { container: { prefix: deployment.prefix, name: finalOfInstance(config)?.name ?? '' } },
    })
    return { keys: result.case === 'inspection' ? keysIn(result.value.json) : [], publicKey }
  } catch (error) {
    // No container yet, or the node just left: nothing is defined there as far as anyone knows.
    if (error instanceof CruxError) return { keys: [], publicKey }
    throw error
  }
}

function keysIn(inspection: string): string[] {
  const labels = (JSON.parse(inspection) as { Config?: { Labels?: Record<string, string> | null } }).Config?.Labels
  return (labels?.[secretKeysLabel] ?? '').split(',').filter((key) => key !== '')
}

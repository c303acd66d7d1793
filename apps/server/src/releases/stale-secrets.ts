import { CruxError } from '@crux/contract'
import { configChanged, invalidateSecrets, isVoided } from '../container-configurations/index.ts'
import type { App } from '../context.ts'
import type { LoadedDeployment } from './deployment-store.ts'
import type { Planned, StartRequest } from './start-request.ts'

type Secret = NonNullable<LoadedDeployment['fields']['secrets']>[number]

/** Values that the node's current key cannot decrypt, including those that were emptied for that reason and not entered again. */
export function checkStaleSecrets(
  deployment: LoadedDeployment,
  instances: readonly Planned[],
  { from }: Pick<StartRequest, 'from'>,
): CruxError | undefined {
  if (from === 'release') return checkOldKeys(deployment, instances)
  const chosen = new Set(instances.map(({ id }) => id))
  const layers = [
    { configId: deployment.configId, fields: deployment.fields },
    ...deployment.instances.filter(({ id }) => chosen.has(id)),
  ]
  const stale = layers.flatMap(({ configId, fields }) => {
    const rows = (fields.secrets ?? []).filter((row) => isVoided(row) || isStale(deployment, row))
    return rows.length > 0 ? [{ configId, rows }] : []
  })
  if (stale.length === 0) return undefined
  const keys = [...new Set(stale.flatMap(({ rows }) => rows.map((row) => row.key)))]
  return new CruxError('preconditionFailed', {
    property: 'secrets',
    value: stale.map(({ configId, rows }) => ({ configId, invalid: rows.map((row) => row.id ?? row.key) })),
    description: `${deployment.node.name} has a new key and cannot read these secrets any more: ${keys.join(', ')}. Enter them again, or remove them.`,
  })
}

/**
 * Whether a layer still has a value for a previous key of the node: the key changed while no server process could empty
 * the values.
 */
export const hasStaleValues = (deployment: LoadedDeployment): boolean =>
  [deployment, ...deployment.instances].some(({ fields }) => fields.secrets?.some((row) => isStale(deployment, row)))

/** Runs after a node connected with another key: values for the previous key are emptied, and open pages are updated. */
export async function invalidateSecretsOfNode(app: App, nodeId: string): Promise<void> {
  const layers = await invalidateSecrets(app.database.pool, { nodeId })
  for (const layer of layers) configChanged(app, { ...layer, origin: undefined, configBundleId: undefined })
  if (layers.length > 0)
    app.log.info({ nodeId, layers: layers.length }, 'the key of a node changed: its secrets have to be entered again')
}

const isStale = (deployment: LoadedDeployment, row: Secret): boolean =>
  Boolean(row.value) && row.publicKey !== deployment.node.publicKey

function checkOldKeys(deployment: LoadedDeployment, instances: readonly Planned[]): CruxError | undefined {
  const unreadable = instances.filter(({ config }) => config.secrets.some((row) => isStale(deployment, row)))
  if (unreadable.length === 0) return undefined
  return new CruxError('preconditionFailed', {
    property: 'secrets',
    value: unreadable.map(({ id }) => id),
    description: `${deployment.node.name} has a new key and cannot read the secrets of that release any more.`,
  })
}

import { ContainerConfigFields, containerConfigFieldNames } from '@crux/contract'
import { bytesOfQuantity, isRecord, isUnset, millisOfCores } from '@crux/rules'

/**
 * A layer without ids, values of secrets, and what sets nothing in the lowest layer: null, empty lists, and members that are not set. A row with the
 * value null stays, because it removes a key.
 */
export function dropUnset(config: ContainerConfigFields): ContainerConfigFields {
  const kept: ContainerConfigFields = {}
  // The members of a parsed layer are in the order of the schema.
  const ordered = ContainerConfigFields.safeParse(config).data ?? config
  for (const field of containerConfigFieldNames) {
    const value =
      field === 'secrets' ? ordered.secrets?.map(({ value, encrypted, publicKey, ...rest }) => rest) : ordered[field]
    if (isUnset(field, value)) continue
    const inner = prune(value)
    if (inner !== undefined) Object.assign(kept, { [field]: inner })
  }
  return kept
}

/** What has the same meaning is equal: amounts in other units, the order of capabilities, and a value that is the default. */
export function toComparable(config: ContainerConfigFields): ContainerConfigFields {
  const { capabilities, healthCheckConfig, ports, resourceConfig, shmSize, volumes, ...rest } = dropUnset(config)
  const { limits, requests } = resourceConfig ?? {}
  return dropUnset({
    ...rest,
    shmSize: toBytes(shmSize),
    resourceConfig: { limits: toAmounts(limits), requests: toAmounts(requests) },
    ports: ports?.map((port) => ({ ...port, protocol: port.protocol ?? 'tcp' })),
    volumes: volumes?.map((volume) => ({ ...volume, type: volume.type ?? 'rwo', size: toBytes(volume.size) })),
    capabilities: capabilities?.toSorted((left, right) => left.value.localeCompare(right.value)),
    healthCheckConfig: {
      ...healthCheckConfig,
      test: healthCheckConfig?.test === 'shell' ? null : healthCheckConfig?.test,
    },
  })
}

type Amounts = { cpu?: string | null; memory?: string | null }

const toAmounts = (amounts: Amounts | null | undefined): Amounts => {
  const millis = amounts?.cpu ? millisOfCores(amounts.cpu) : undefined
  return { cpu: millis === undefined ? amounts?.cpu : `${millis}m`, memory: toBytes(amounts?.memory) }
}

const toBytes = (text: string | null | undefined) => {
  const bytes = text ? bytesOfQuantity(text) : undefined
  return bytes === undefined ? text : String(bytes)
}

function prune(value: unknown): unknown {
  if (value === null || value === undefined) return undefined
  if (Array.isArray(value)) return value.length > 0 ? value.map(prune) : undefined
  if (!isRecord(value)) return value
  const members = Object.entries(value)
    .filter(([name]) => name !== 'id')
    .map(([name, inner]) => [name, name === 'value' && 'key' in value ? inner : prune(inner)] as const)
    .filter(([, inner]) => inner !== undefined)
  return members.length > 0 ? Object.fromEntries(members) : undefined
}

import type { ContainerConfig, ResponseOf } from '@crux/contract'
import { defaultContainerName, mergeLayers } from '@crux/rules'
import { getFields } from './config-fields.ts'
import type { Secret, SecretChange } from './secret-rows.ts'

type Deployment = Pick<ResponseOf<'deployments.get'>, 'config' | 'configBundles' | 'publicKey'> & {
  instances: readonly GroupedInstance[]
}
type GroupedInstance = Pick<ResponseOf<'deployments.get'>['instances'][number], 'id' | 'config'> & {
  image: { name: string; config: ContainerConfig }
}
type Preview = Pick<ResponseOf<'deployments.preview'>, 'instances' | 'problems'>

/** A key of a container that belongs to a group. */
export type GroupMember = {
  instanceId: string
  configId: string
  revision: number | undefined
  container: string
  key: string
  /** The row of the instance's own layer. */
  own: Secret | undefined
  /** Whether it has a value, which only the node can read. */
  hasValue: boolean
}
/** `partial`: some keys have a value and others do not, so that no value can be generated for the others alone. */
export type SecretGroup = { group: string; members: GroupMember[]; state: 'missing' | 'partial' | 'set' }

/**
 * The groups of generated values of a deployment, in the order of its instances.
 *
 * @param preview knows which required keys have no value; a value may come from another deployment of the prefix
 */
export function listSecretGroups(deployment: Deployment, preview: Preview): SecretGroup[] {
  const groups = new Map<string, GroupMember[]>()
  for (const instance of deployment.instances)
    for (const { group, ...member } of listMembers(deployment, instance, preview))
      groups.set(group, [...(groups.get(group) ?? []), member])
  return [...groups].map(([group, members]) => ({ group, members, state: getState(members) }))
}

function getState(members: readonly GroupMember[]): SecretGroup['state'] {
  if (members.every(({ hasValue }) => hasValue)) return 'set'
  return members.some(({ hasValue }) => hasValue) ? 'partial' : 'missing'
}

function listMembers(
  deployment: Deployment,
  { id, image, config }: GroupedInstance,
  preview: Preview,
): (GroupMember & { group: string })[] {
  const layers = [image.config, ...deployment.configBundles.map((bundle) => bundle.config), deployment.config, config]
  const merged = mergeLayers(layers.map((layer) => ({ source: layer.type, fields: getFields(layer) })))
  const own = new Map((config.secrets ?? []).map((row) => [row.key, row]))
  const isPreviewed = preview.instances.some(({ instanceId }) => instanceId === id)
  const missing = new Set(
    preview.problems.flatMap(({ error, instanceId, property }) =>
      error === 'missingSecret' && instanceId === id ? [property.replace(/^.*\.config\.secrets\./, '')] : [],
    ),
  )
  return (merged.secrets ?? []).flatMap(({ key, required, generate, value, publicKey }) => {
    if (!generate) return []
    const isReadable = Boolean(value) && publicKey === deployment.publicKey
    return [
      {
        group: generate,
        instanceId: id,
        configId: config.id,
        revision: config.revision,
        container: merged.name || defaultContainerName(image.name),
        key,
        own: own.get(key),
        hasValue: isReadable || (!value && required && isPreviewed && !missing.has(key)),
      },
    ]
  })
}

/** The changes of one instance's layer. */
export type GroupChanges = { configId: string; revision: number | undefined; changes: SecretChange[] }

/**
 * The changes that store one value for every key of a group, by instance and always in the same order, so that of two users who generate at the same
 * time the second one is refused at the first instance.
 *
 * @param values the new value of each group
 */
export function toGroupChanges(groups: readonly SecretGroup[], values: ReadonlyMap<string, string>): GroupChanges[] {
  const byConfig = new Map<string, GroupChanges>()
  for (const { group, members } of groups) {
    const text = values.get(group)
    if (text === undefined) continue
    for (const { configId, revision, key, own } of members) {
      const known = byConfig.get(configId) ?? { configId, revision, changes: [] }
      const row = { ...(own?.id && { id: own.id }), required: own?.required ?? false, text }
      byConfig.set(configId, { ...known, changes: [...known.changes, { key, row }] })
    }
  }
  return [...byConfig.values()].sort((a, b) => (a.configId < b.configId ? -1 : 1))
}

/** Without characters that look alike, and without those that a shell, an address or a configuration file would read as something else. */
const alphabet = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789'
export const generatedLength = 32

/**
 * A new value of 32 characters, each of which is equally likely: about 185 bits.
 *
 * @param getRandom fills the array with random bytes
 */
export function generateSecret(
  getRandom: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array = (bytes) => crypto.getRandomValues(bytes),
): string {
  // Bytes above the last whole multiple would make the first characters more likely.
  const limit = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < generatedLength)
    for (const byte of getRandom(new Uint8Array(generatedLength)))
      if (byte < limit && text.length < generatedLength) text += alphabet[byte % alphabet.length]
  return text
}

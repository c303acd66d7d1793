import { createHash } from 'node:crypto'
import { canonicalJson } from '@crux/rules'
import type { RegistryCredentials } from '../../images/image-reference.ts'
import type { Manifest } from '../cluster/cluster.ts'

/** A key that a shell cannot name is left out by the kubelet without an error. */
const variableName = /^[A-Za-z_][A-Za-z0-9_.-]*$/

/** @throws Error with a sentence for users */
export function assertVariableNames(setting: string, keys: readonly string[]): void {
  const invalid = keys.find((key) => !variableName.test(key))
  if (invalid !== undefined) throw new Error(`${setting}: "${invalid}" cannot be the name of a variable on a cluster`)
}

interface Owned {
  name: string
  namespace: string
  labels: Record<string, string>
}

/**
 * The environment of a container. The name holds a hash of the content, and the object never changes: a pod template of an earlier release
 * names its own, so that going back brings its values back.
 */
export function toConfigMap(owned: Owned, data: Readonly<Record<string, string>>): Manifest | undefined {
  if (Object.keys(data).length === 0) return undefined
  return toImmutable('ConfigMap', owned, { data })
}

/** The secrets of a container. The hash is keyed by nothing, so it covers the values only together with the names of all keys. */
export function toSecret(owned: Owned, values: Readonly<Record<string, string>>): Manifest | undefined {
  if (Object.keys(values).length === 0) return undefined
  return toImmutable('Secret', owned, { type: 'Opaque', data: toBase64(values) })
}

/** The credentials with which the nodes pull the image. */
export function toPullSecret(owned: Owned, auth: RegistryCredentials | undefined): Manifest | undefined {
  if (!auth) return undefined
  const { password, serverAddress, username } = auth
  const token = Buffer.from(`${username}:${password}`).toString('base64')
  const config = JSON.stringify({ auths: { [serverAddress]: { username, password, auth: token } } })
  return toImmutable(
    'Secret',
    { ...owned, name: `${owned.name}-pull` },
    { type: 'kubernetes.io/dockerconfigjson', data: toBase64({ '.dockerconfigjson': config }) },
  )
}

/** What a container gets as a file. */
export const toFileSecret = (owned: Owned, name: string, content: string): Manifest =>
  toImmutable('Secret', owned, { type: 'Opaque', data: toBase64({ [name]: content }) })

function toImmutable(kind: 'ConfigMap' | 'Secret', { labels, name, namespace }: Owned, content: object): Manifest {
  // The namespace and the instance make the hash of a secret useless for anybody who compares it with another one.
  const hash = createHash('sha256')
    .update(canonicalJson([namespace, labels, content]))
    .digest('hex')
    .slice(0, 10)
  return {
    apiVersion: 'v1',
    kind,
    metadata: { name: `${name}-${hash}`, namespace, labels },
    immutable: true,
    ...content,
  }
}

const toBase64 = (values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]))

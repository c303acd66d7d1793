import type { Release } from '@crux/agent-protocol'
import { type FinalContainerConfig, patterns } from '@crux/contract'
import { bytesOfQuantity, preparationName } from '@crux/rules'
import { orderDirectory, orderFile, type PreparationOrder, type PreparedVolume } from '../../../prepare/order.ts'
import { toBucketSource, toConfigSource } from '../../file-sources.ts'
import { getRegistry, imageKey, type RegistryCredentials } from '../../images/image-reference.ts'
import type { Manifest } from '../cluster/cluster.ts'
import { defaultMemorySize, toVolumes } from './claims.ts'
import { toFileSecret } from './config-objects.ts'
import type { DesiredWorkload } from './desired-workload.ts'

/** How much longer a pod may take until it is ready when files are copied before. */
export const preparationSeconds = 600

/** Runs the preparation when the workload has no user of its own: nobody, as in the agent's own pod. */
const nobody = 65_532

/** The image that has the program of the preparation: the agent's own. */
export interface AgentImage {
  image: string
  pullPolicy: string
}

/** What a preparation needs besides the configuration. */
export interface PreparationParts {
  agentImage: AgentImage
  /** Certificates that the agent trusts besides the usual ones, as PEM. */
  authority: string | undefined
  /** Where the bucket is; `unknown` in a comparison with a release that has run, to which nobody gives credentials. */
  storage: { url: string; accessKey: string; secretKey: string } | 'unknown' | undefined
}

/** What a pod has of a preparation. */
export interface PodPreparation {
  agentImage: AgentImage
  user: number
  group: number
  /** Undefined in a comparison. */
  secret: string | undefined
  mounts: readonly object[]
  /** In bytes: what it writes into a volume in memory counts as its own. */
  memoryLimit: number
}

interface KnownParts extends Partial<PreparationParts> {
  auth: RegistryCredentials | undefined
  /** By the keys of images. */
  digests: Readonly<Record<string, string>>
  /** Whether the image of the container is one that only the nodes have. */
  isLocal: boolean
}

export const hasPreparation = ({ configContainer, storage }: FinalContainerConfig): boolean =>
  Boolean(configContainer || storage?.storageId)

/**
 * What copies files into the volumes of a pod before its containers start. Its Secret is mounted by this container alone.
 *
 * @returns undefined for a configuration that asks for no files
 * @throws Error with a sentence for users
 */
export function planPreparation(
  desired: DesiredWorkload,
  owned: { name: string; namespace: string; labels: Record<string, string> },
  { agentImage, ...parts }: KnownParts,
): { secret: Manifest | undefined; pod: PodPreparation } | undefined {
  const { config, name } = desired
  if (!hasPreparation(config)) return undefined
  if (!agentImage) throw new Error('the image of the agent is not known')
  const volumes = listVolumes(desired, parts)
  const mounts = toVolumes(name, config).mounts
  const group = toGroup(config.user)
  const order: PreparationOrder = { ...(parts.authority && { authority: parts.authority }), volumes }
  const secret =
    parts.storage === 'unknown'
      ? undefined
      : toFileSecret({ ...owned, name: `${owned.name}-prepare` }, orderFile, JSON.stringify(order))
  return {
    secret,
    pod: {
      agentImage,
      user: group,
      group,
      secret: secret?.metadata.name,
      memoryLimit: ownMemoryBytes + countMemory(desired, volumes),
      mounts: mounts.flatMap((mount, index) => {
        const mountPath = toDirectory(index)
        return volumes.some(({ directory }) => directory === mountPath) ? [{ ...mount, mountPath }] : []
      }),
    },
  }
}

/** The user and the group of the preparation: those of the container, so that it may change what the other has written. */
export const toGroup = (user: number | null | undefined): number => (user != null && user > 0 ? user : nobody)

const ownMemoryBytes = 512 * 1_024 ** 2
/** Of one volume: the most that a member may have in memory without a limit of the container, which is none of this one. */
const memoryVolumeBytesMax = 1_024 ** 3

const countMemory = ({ config }: DesiredWorkload, filled: readonly PreparedVolume[]): number =>
  config.volumes
    .filter(({ name, type }) => type === 'mem' && filled.some((volume) => volume.name === name))
    .reduce((sum, { size }) => sum + Math.min(memoryVolumeBytesMax, bytesOfQuantity(size || defaultMemorySize) ?? 0), 0)

const toDirectory = (index: number): string => `/crux/volumes/${index}`

/** In the order of Docker: files of an image, then those of a bucket, also where both go into one volume. */
function listVolumes({ config, image }: DesiredWorkload, parts: Omit<KnownParts, 'agentImage'>): PreparedVolume[] {
  const { auth, digests, isLocal, storage } = parts
  const found = new Map<number, PreparedVolume>()
  const add = (what: string, name: string, source: PreparedVolume['sources'][number]) => {
    const index = config.volumes.findIndex((volume) => volume.name === name)
    if (index < 0) throw new Error(`${what} writes into the volume ${name}, which is none of this container`)
    const known = found.get(index)
    if (known) known.sources.push(source)
    else found.set(index, { name, directory: toDirectory(index), sources: [source] })
  }
  const files = toConfigSource(config)
  if (files) {
    const registry = getRegistry(files.image.name)
    const key = imageKey(files.image)
    const digest = files.image.digest ?? (Object.hasOwn(digests, key) ? digests[key] : undefined)
    if (!digest && isLocal && registry === getRegistry(image.name))
      throw new Error(
        `configContainer: ${key} is an image that only the nodes have, and its files come from a registry`,
      )
    if (!digest || !patterns.digest.test(digest)) throw new Error(`configContainer: the digest of ${key} is not known`)
    // Credentials are sent only to the registry that they are for.
    const isSame = registry === getRegistry(image.name)
    const { keepFiles, path } = files
    const source = { kind: 'image' as const, name: files.image.name, digest, path, keepFiles }
    add('the config container', files.volume, { ...source, ...(isSame && auth && { auth }) })
  }
  const objects = toBucketSource(config)
  if (objects) {
    if (!storage) throw new Error('the release does not say where the storage is: start it again')
    const { bucket, prefix } = objects
    const { accessKey, secretKey, url } =
      storage === 'unknown' ? { url: 'https://unknown.invalid', accessKey: '', secretKey: '' } : storage
    add('the import from a storage', objects.volume, { kind: 'bucket', url, accessKey, secretKey, bucket, prefix })
  }
  return [...found.values()]
}

const orderVolume = 'crux-order'
const readableByGroup = 0o440

export const toPreparationVolumes = ({ secret }: PodPreparation): object[] =>
  secret === undefined ? [] : [{ name: orderVolume, secret: { secretName: secret, defaultMode: readableByGroup } }]

/** The release is none of what its name is made of: a container that does not change keeps its pods. */
export function toPreparationContainer(
  { key }: Pick<Release, 'key'>,
  { agentImage, group, memoryLimit, mounts, secret, user }: PodPreparation,
): object {
  return {
    name: preparationName,
    image: agentImage.image,
    imagePullPolicy: agentImage.pullPolicy,
    command: ['/bin/node', '--max-semi-space-size=1', '/agent/prepare.mjs'],
    env: [{ name: 'CRUX_RELEASE', value: `${key?.deploymentId ?? ''}/${key?.number ?? 0}` }],
    volumeMounts: [
      ...mounts,
      ...(secret === undefined ? [] : [{ name: orderVolume, mountPath: orderDirectory, readOnly: true }]),
    ],
    resources: { requests: { cpu: '20m', memory: '64Mi' }, limits: { cpu: '1', memory: String(memoryLimit) } },
    securityContext: {
      runAsNonRoot: true,
      runAsUser: user,
      runAsGroup: group,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
      seccompProfile: { type: 'RuntimeDefault' },
    },
  }
}

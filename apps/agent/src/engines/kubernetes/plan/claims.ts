import type { FinalContainerConfig } from '@crux/contract'
import { bytesOfQuantity, toClaimName as joinClaimName } from '@crux/rules'
import type { Manifest } from '../cluster/cluster.ts'

type Volume = FinalContainerConfig['volumes'][number]

const defaultSize = '1Gi'
/** As on Docker: memory without a limit could fill that of the node. */
export const defaultMemorySize = '64Mi'

const accessModes = { ro: 'ReadOnlyMany', rwo: 'ReadWriteOnce', rwx: 'ReadWriteMany' } as const

/** The claims of a container. A claim outlives every release: it holds data. */
export function toClaims(
  { name, namespace, config }: { name: string; namespace: string; config: FinalContainerConfig },
  labels: Record<string, string>,
): Manifest[] {
  return config.volumes.flatMap((volume): Manifest[] => {
    const { class: storageClass, size, type } = volume
    if (type === 'mem' || type === 'tmp') return []
    return [
      {
        apiVersion: 'v1',
        kind: 'PersistentVolumeClaim',
        metadata: { name: toClaimName(name, volume), namespace, labels },
        spec: {
          accessModes: [accessModes[type ?? 'rwo']],
          resources: { requests: { storage: toQuantity(volume.name, size || defaultSize) } },
          ...(storageClass && { storageClassName: storageClass }),
        },
      },
    ]
  })
}

/**
 * The volumes of a pod, and where its container sees them. None of them is a Secret that a configuration names: a member could name that of another
 * container, or of the cluster's own software, and read it. Secrets reach a container as variables alone.
 */
export function toVolumes(name: string, { volumes }: FinalContainerConfig): { volumes: object[]; mounts: object[] } {
  return {
    volumes: volumes.map((volume, index) => ({ name: toVolumeName(index), ...toSource(name, volume) })),
    mounts: volumes.map(({ path, type }, index) => ({
      name: toVolumeName(index),
      mountPath: path,
      ...(type === 'ro' && { readOnly: true }),
    })),
  }
}

function toSource(name: string, volume: Volume): object {
  const { size, type } = volume
  if (type === 'mem')
    return { emptyDir: { medium: 'Memory', sizeLimit: toQuantity(volume.name, size || defaultMemorySize) } }
  if (type === 'tmp') return { emptyDir: size ? { sizeLimit: toQuantity(volume.name, size) } : {} }
  return {
    persistentVolumeClaim: { claimName: toClaimName(name, volume), ...(type === 'ro' && { readOnly: true }) },
  }
}

/** Names of volumes are texts of members; inside a pod they are only counted. */
const toVolumeName = (index: number): string => `volume-${index}`

/** @throws Error with a sentence for users: the name becomes that of an object, and may be no path of the node */
function toClaimName(name: string, volume: Volume): string {
  const claim = joinClaimName(name, volume.name)
  if (claim.length > 253 || !/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(claim))
    throw new Error(
      `the volume name "${volume.name}" is not valid on a cluster: use lower-case letters, digits and dashes`,
    )
  return claim
}

function toQuantity(name: string, text: string): string {
  const bytes = bytesOfQuantity(text)
  if (!bytes) throw new Error(`the size "${text}" of the volume ${name} is not a quantity such as 512Mi or 1G`)
  return String(bytes)
}

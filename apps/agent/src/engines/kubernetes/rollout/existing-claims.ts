import { bytesOfQuantity, sharedClaimDescription } from '@crux/rules'
import { z } from 'zod'
import { PlanError } from '../../../errors.ts'
import { label } from '../../labels.ts'
import type { ClusterObject, Manifest } from '../cluster/cluster.ts'
import type { DesiredWorkload } from '../plan/desired-workload.ts'
import { mayRunSeveralPods } from '../plan/workload.ts'

const Claim = z.object({
  accessModes: z.array(z.string()).default([]),
  resources: z.object({ requests: z.object({ storage: z.string().optional() }).default({}) }).default({ requests: {} }),
  storageClassName: z.string().optional(),
})
const readClaim = ({ spec }: Readonly<Record<string, unknown>>) => Claim.safeParse(spec).data

/** Which access modes a claim may have that pods of a type of volume share. */
const sharedModes = { rwx: ['ReadWriteMany'], ro: ['ReadOnlyMany', 'ReadWriteMany'] } as const

/**
 * Asks whether a claim that exists is one for the volume: a release never changes or replaces a claim, which holds data.
 *
 * @throws PlanError for the claim of another container, and for one that fewer pods may use than would
 */
export function assertClaimFits(found: ClusterObject, desired: DesiredWorkload): void {
  const { config, instanceId, name } = desired
  const { [label.name]: other = name } = found.labels
  if (other !== name) throw new PlanError(instanceId, sharedClaimDescription(found.name, [other, name]))
  const volume = config.volumes.find((one) => found.name === `${name}-${one.name}`)
  const type = volume?.type
  if (!volume || (type !== 'rwx' && type !== 'ro') || !mayRunSeveralPods(config)) return
  const modes = readClaim(found.fields)?.accessModes ?? []
  if (modes.some((mode) => sharedModes[type].some((one) => one === mode))) return
  const [purpose, back] = modes.includes('ReadOnlyMany') ? ['for reading alone', 'ro'] : ['for one pod', 'rwo']
  throw new PlanError(
    instanceId,
    `volumes: the claim ${found.name} was made ${purpose} (${modes.join(', ')}), and several pods would ${type === 'rwx' ? 'write to it' : 'read it'} as the volume ${volume.name} of the type ${type}: set the type back to ${back}, choose another name for the volume, or delete the claim with its data`,
  )
}

/** What a claim that exists has differently from what the configuration says, as sentences for users. */
export function listKeptSettings(found: ClusterObject, wanted: Manifest): string[] {
  const [has, wants] = [readClaim(found.fields), readClaim(wanted)]
  if (!has || !wants) return []
  const [size, wantedSize] = [has.resources.requests.storage, wants.resources.requests.storage]
  const kept = [
    // The volume itself may be larger: provisioners round up.
    ...(size && wantedSize && bytesOfQuantity(size) !== bytesOfQuantity(wantedSize) ? [`the size ${size}`] : []),
    ...(wants.storageClassName && wants.storageClassName !== has.storageClassName
      ? [has.storageClassName ? `the storage class ${has.storageClassName}` : 'no storage class']
      : []),
    ...(wants.accessModes.every((mode) => isGranted(mode, has.accessModes))
      ? []
      : [`the access mode ${has.accessModes.join(', ')}`]),
  ]
  if (kept.length === 0) return []
  return [`volumes: the claim ${found.name} keeps ${kept.join(' and ')}, because a claim that exists is not changed`]
}

const isGranted = (mode: string, modes: readonly string[]): boolean =>
  modes.includes(mode) || (mode !== 'ReadWriteOncePod' && modes.includes('ReadWriteMany'))

import { ExternalAddressType } from '@crux/agent-protocol'
import { z } from 'zod'
import { label } from '../../labels.ts'
import type { ClusterObject } from '../cluster/cluster.ts'

/** Kinds whose objects have the addresses of a workload. The agents of earlier installations have no right to watch them. */
export const addressKinds = ['Service', 'Ingress'] as const
export type AddressKind = (typeof addressKinds)[number]

export const isAddressKind = (kind: string): kind is AddressKind => addressKinds.some((one) => one === kind)

/** The addresses by which a load balancer or an ingress of a workload is reached; none: the cluster has given none yet. */
export interface AddressRecord {
  uid: string
  resourceVersion: string
  kind: AddressKind
  /** The same as of the workload that it belongs to. */
  workload: string
  type: ExternalAddressType
  addresses: readonly string[]
}

/** A cluster with many entries has one for each of its machines. */
const addressesMax = 10
/** The longest name of a host. */
const lengthMax = 253

const Fields = z.object({
  spec: z.object({ type: z.string().default('') }).prefault({}),
  status: z
    .object({
      loadBalancer: z
        .object({
          ingress: z
            .array(z.object({ ip: z.string().default(''), hostname: z.string().default('') }))
            .nullish()
            .transform((entries) => entries ?? []),
        })
        .prefault({}),
    })
    .prefault({}),
})

/**
 * What a workload and its Service and Ingress have in common: the team, the project, the namespace and the container's name. The node is not part
 * of it: it may be a deleted one in the labels of what its successor has not applied again yet, and a namespace is only ever one node's.
 */
export const toWorkloadKey = ({
  labels,
  name,
  namespace,
}: Pick<ClusterObject, 'labels' | 'name' | 'namespace'>): string =>
  [labels[label.team], labels[label.project], namespace, labels[label.name] ?? name].join('/')

/**
 * Undefined for a Service without a load balancer, and for an object whose shape is unknown.
 *
 * @param object a Service or an Ingress of ours
 */
export function toAddressRecord(kind: AddressKind, object: ClusterObject): AddressRecord | undefined {
  const parsed = Fields.safeParse(object.fields).data
  if (!parsed || (kind === 'Service' && parsed.spec.type !== 'LoadBalancer')) return undefined
  const addresses = parsed.status.loadBalancer.ingress
    .map(({ hostname, ip }) => hostname || ip)
    .filter((address) => address !== '' && address.length <= lengthMax)
  return {
    uid: object.uid,
    resourceVersion: object.resourceVersion,
    kind,
    workload: toWorkloadKey(object),
    type: kind === 'Service' ? ExternalAddressType.LOAD_BALANCER : ExternalAddressType.INGRESS,
    addresses: [...new Set(addresses)].slice(0, addressesMax),
  }
}

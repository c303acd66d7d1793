import type { ObjectKind, ObjectRef } from '../cluster/cluster.ts'

interface KindPath {
  /** Empty for the core group. */
  group: string
  version: string
  resource: string
  isNamespaced: boolean
}

const core = (resource: string, isNamespaced = true): KindPath => ({ group: '', version: 'v1', resource, isNamespaced })
const inGroup = (group: string, resource: string): KindPath => ({ group, version: 'v1', resource, isNamespaced: true })

const kinds: Readonly<Record<ObjectKind, KindPath>> = {
  Namespace: core('namespaces', false),
  Node: core('nodes', false),
  Pod: core('pods'),
  Service: core('services'),
  ConfigMap: core('configmaps'),
  Secret: core('secrets'),
  PersistentVolumeClaim: core('persistentvolumeclaims'),
  ResourceQuota: core('resourcequotas'),
  Event: core('events'),
  Deployment: inGroup('apps', 'deployments'),
  ReplicaSet: inGroup('apps', 'replicasets'),
  Job: inGroup('batch', 'jobs'),
  Ingress: inGroup('networking.k8s.io', 'ingresses'),
  Lease: inGroup('coordination.k8s.io', 'leases'),
  ServiceMonitor: inGroup('monitoring.coreos.com', 'servicemonitors'),
}

export const getResource = (kind: ObjectKind): string => kinds[kind].resource

/** As manifests write it: "apps/v1". */
export function toApiVersion(kind: ObjectKind): string {
  const { group, version } = kinds[kind]
  return group === '' ? version : `${group}/${version}`
}

/** The path of the API group and version that serves a kind. */
export function toGroupPath(kind: ObjectKind): string {
  const { group, version } = kinds[kind]
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`
}

/** @param namespace empty: all namespaces */
export function toCollectionPath(kind: ObjectKind, namespace: string): string {
  const { isNamespaced, resource } = kinds[kind]
  const inNamespace = isNamespaced && namespace !== '' ? `/namespaces/${encodeURIComponent(namespace)}` : ''
  return `${toGroupPath(kind)}${inNamespace}/${resource}`
}

export const toObjectPath = ({ kind, name, namespace }: ObjectRef): string =>
  `${toCollectionPath(kind, namespace)}/${encodeURIComponent(name)}`

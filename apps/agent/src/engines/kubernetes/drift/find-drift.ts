import type { Owner, Release } from '@crux/agent-protocol'
import { z } from 'zod'
import { Slots } from '../../../concurrency/slots.ts'
import { isOwnedBy, label } from '../../labels.ts'
import type { AppliedPreview, Cluster, ClusterObject, Manifest, ObjectKind, ObjectRef } from '../cluster/cluster.ts'
import { toRef } from '../cluster/cluster.ts'
import { listConfigRefs } from '../cluster/config-refs.ts'
import { listServed } from '../cluster/list-served.ts'
import type { ResolvedWorkload } from '../plan/manifests.ts'
import { type ChangedField, diffFields } from './diff-fields.ts'
import { findHidingVariables } from './hiding-variables.ts'

export interface DriftedField extends ChangedField {
  isSecret: boolean
}

/** How an object differs from a release. */
export interface DriftedObject {
  kind: ObjectKind
  name: string
  instanceId: string
  /** `added`: it belongs to the owner, and not to the release. `foreign`: it has the name of an object of the release, and another owner. */
  type: 'missing' | 'changed' | 'added' | 'foreign'
  fields: DriftedField[]
}

type DriftCluster = Pick<Cluster, 'get' | 'list' | 'previewApply' | 'serves'>

/** What the API answers about one release at a time, so that releases under way keep most of its connections. */
const requestsMax = 4
/** The kinds that an agent may list: it has no right to list config and secrets. */
const listedKinds = ['Deployment', 'Job', 'Service', 'Ingress', 'ServiceMonitor'] as const satisfies ObjectKind[]

/**
 * Compares the cluster with a release that has succeeded, and changes nothing: the API says itself what an apply of its objects would change.
 *
 * A Job is not compared: it has done its work, it cannot be changed, and clusters delete those that have ended.
 */
export async function findDrift(
  cluster: DriftCluster,
  release: Release,
  workloads: readonly ResolvedWorkload[],
): Promise<DriftedObject[]> {
  const { owner } = release
  if (!owner) throw new Error('the release names no owner')
  const slots = new Slots(requestsMax)
  const compared = workloads.map((workload) => slots.run(() => compareWorkload(cluster, owner, workload)))
  const found = (await Promise.all(compared)).flat()
  return [...found, ...(await findAdded(cluster, release, owner, workloads))]
}

async function compareWorkload(
  cluster: DriftCluster,
  owner: Owner,
  workload: ResolvedWorkload,
): Promise<DriftedObject[]> {
  const { instanceId, manifests } = workload
  const drifted: DriftedObject[] = []
  for (const manifest of [manifests.workload, manifests.service, manifests.ingress, manifests.serviceMonitor]) {
    if (!manifest || manifest.kind === 'Job') continue
    const state = await findOwn(cluster, owner, toRef(manifest))
    const preview = state === 'own' ? await cluster.previewApply(manifest) : undefined
    const { kind, metadata } = manifest
    const object = { kind, name: metadata.name, instanceId, fields: [] }
    if (!preview) drifted.push({ ...object, type: state === 'foreign' ? 'foreign' : 'missing' })
    else {
      const fields = [
        ...diffObject(preview).map((field) => ({ ...field, isSecret: false })),
        ...(kind === 'Deployment' ? diffVariables(preview.found, workload) : []),
      ]
      if (fields.length > 0) drifted.push({ ...object, type: 'changed', fields })
      if (kind === 'Deployment') drifted.push(...(await compareConfig(cluster, owner, workload, preview)))
    }
  }
  for (const claim of manifests.claims) {
    const ref = toRef(claim)
    const state = await findOwn(cluster, owner, ref)
    if (state !== 'own') drifted.push({ kind: ref.kind, name: ref.name, instanceId, type: state, fields: [] })
  }
  return drifted
}

async function findOwn(cluster: DriftCluster, owner: Owner, ref: ObjectRef): Promise<'own' | 'missing' | 'foreign'> {
  const found = await cluster.get(ref)
  if (!found || found.deletedAt) return 'missing'
  return isOwnedBy({ ...found.labels }, owner) ? 'own' : 'foreign'
}

function diffObject({ applied, found, owned }: AppliedPreview): ChangedField[] {
  const toShown = ({ annotations, fields: { status: _status, ...fields }, labels }: ClusterObject) => ({
    metadata: { labels, annotations },
    ...fields,
  })
  return diffFields(toShown(found), toShown(applied), owned)
}

function diffVariables(found: ClusterObject, { desired, manifests }: ResolvedWorkload): DriftedField[] {
  const values = new Map(desired.config.environment.map(({ key, value }) => [key, value]))
  return findHidingVariables(found, manifests.workload, listVariables({ desired, manifests })).flatMap(
    ({ container, list, name, value }) => {
      if (values.get(name) === value) return []
      const path = `spec.template.spec.${list}[${container}].env[${name}]`
      return [{ path, wanted: values.get(name), found: value, isSecret: !values.has(name) }]
    },
  )
}

/** The names of the variables that the release sets. */
export const listVariables = ({ desired, manifests }: Pick<ResolvedWorkload, 'desired' | 'manifests'>): Set<string> =>
  new Set([...desired.config.environment.map(({ key }) => key), ...Object.keys(readData(manifests.secret))])

const Data = z.record(z.string(), z.string()).catch({})
const readData = (object: Readonly<Record<string, unknown>> | undefined) => Data.parse(object?.data)

/**
 * The config and secrets that the workload names, as far as the agent itself has written those names: the credentials of a registry, which
 * are not part of the comparison, have the name that their last release gave them.
 */
async function compareConfig(
  cluster: DriftCluster,
  owner: Owner,
  { instanceId, manifests }: ResolvedWorkload,
  { owned }: AppliedPreview,
): Promise<DriftedObject[]> {
  const drifted: DriftedObject[] = []
  const namespace = owner.prefix
  for (const { kind, name } of owned ? listConfigRefs({ fields: owned }) : []) {
    const object = { kind, name, instanceId }
    const found = await cluster.get({ kind, namespace, name })
    if (!found) drifted.push({ ...object, type: 'missing', fields: [] })
    else if (!isOwnedBy({ ...found.labels }, owner)) drifted.push({ ...object, type: 'foreign', fields: [] })
    else {
      const wanted = [manifests.configMap, manifests.secret].find(
        (manifest) => manifest?.kind === kind && manifest.metadata.name === name,
      )
      const fields = wanted ? diffData(found, wanted) : []
      if (fields.length > 0) drifted.push({ ...object, type: 'changed', fields })
    }
  }
  return drifted
}

/** Whether an object that never changes has other data than the release: somebody has deleted it, and created another one in its place. */
export const hasOtherData = (found: ClusterObject, wanted: Manifest): boolean => diffData(found, wanted).length > 0

function diffData(found: ClusterObject, wanted: Manifest): DriftedField[] {
  const isSecret = wanted.kind === 'Secret'
  return diffFields(readData(found.fields), readData(wanted), undefined, 'data').map((field) => ({
    ...field,
    // Base64 hides nothing.
    ...(isSecret && { wanted: undefined, found: undefined }),
    isSecret,
  }))
}

/** Objects of the owner that no instance of the release has. A release of a part of a version does not decide about other instances. */
async function findAdded(
  cluster: DriftCluster,
  release: Release,
  owner: Owner,
  workloads: readonly ResolvedWorkload[],
): Promise<DriftedObject[]> {
  const planned = new Set(
    workloads.flatMap(({ manifests: { ingress, service, serviceMonitor, workload } }) =>
      [workload, service, ingress, serviceMonitor].flatMap((one) => (one ? [`${one.kind}/${one.metadata.name}`] : [])),
    ),
  )
  const jobs = new Set(workloads.flatMap((one) => (one.manifests.workload.kind === 'Job' ? [one.instanceId] : [])))
  const instances = new Set(workloads.map(({ instanceId }) => instanceId))
  const isAdded = ({ deletedAt, kind, labels, name, owners }: ClusterObject) => {
    const instanceId = labels[label.instance] ?? ''
    if (deletedAt || owners.length > 0 || planned.has(`${kind}/${name}`)) return false
    // Each release has a Job of its own name.
    if (kind === 'Job' && jobs.has(instanceId)) return false
    return isOwnedBy({ ...labels }, owner) && (!release.partial || instances.has(instanceId))
  }
  const added: DriftedObject[] = []
  for (const kind of listedKinds) {
    const objects = await listServed(cluster, kind, { namespace: owner.prefix })
    for (const { labels, name } of objects.filter(isAdded))
      added.push({ kind, name, instanceId: labels[label.instance] ?? '', type: 'added', fields: [] })
  }
  return added
}

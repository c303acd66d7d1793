import { z } from 'zod'
import { label } from '../../labels.ts'
import { toApiVersion } from '../client/kinds.ts'
import type { Cluster, ClusterObject } from '../cluster/cluster.ts'
import { listConfigRefs, listEnvironmentRefs, toKey } from '../cluster/config-refs.ts'
import { isOurs } from './records.ts'

const hidden = '***'
/** `kubectl apply` repeats the whole object in it. */
const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration'

export const getSecretKeys = ({ labels, annotations }: Pick<ClusterObject, 'labels' | 'annotations'>): Set<string> =>
  new Set((annotations[label.secretKeys] ?? labels[label.secretKeys] ?? '').split(/[,\s]+/).filter((key) => key !== ''))

/**
 * A workload and its pods as JSON, without values of secrets and without the records of managed fields. A variable that a pod has and its
 * workload has not was added by another program, often with a secret, such as one that a webhook reads from a vault: its value is hidden too.
 */
export function describeWorkload(workload: ClusterObject | undefined, pods: readonly ClusterObject[]): string {
  const secret = workload ? getSecretKeys(workload) : new Set<string>()
  const configured = new Set(listVariables(workload?.fields))
  const isAdded = (name: string) => secret.has(name) || !configured.has(name)
  return JSON.stringify({
    ...(workload && { workload: redactEnvironment(toManifest(workload), (name) => secret.has(name)) }),
    pods: pods.map((pod) => redactEnvironment(toManifest(pod), isAdded)),
  })
}

/** Names of environment variables with a value, at any depth. */
function listVariables(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const variable = Variable.safeParse(value).data
  return [...(variable ? [variable.name] : []), ...Object.values(value).flatMap(listVariables)]
}

function toManifest({ annotations, createdAt, deletedAt, fields, finalizers, kind, owners, ...meta }: ClusterObject) {
  const { [lastAppliedAnnotation]: _applied, ...shown } = annotations
  const metadata = {
    ...meta,
    annotations: shown,
    creationTimestamp: createdAt,
    ...(deletedAt && { deletionTimestamp: deletedAt }),
    ...(owners.length > 0 && { ownerReferences: owners }),
    ...(finalizers.length > 0 && { finalizers }),
  }
  return { apiVersion: toApiVersion(kind), kind, metadata, ...fields }
}

const Variable = z.looseObject({ name: z.string(), value: z.string() })

/** Replaces the values of some environment variables, in containers of any kind and at any depth. */
function redactEnvironment(value: unknown, isHidden: (name: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => redactEnvironment(item, isHidden))
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  const variable = Variable.safeParse(value).data
  if (variable && isHidden(variable.name)) return { ...variable, value: hidden }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactEnvironment(inner, isHidden)]))
}

const Data = z.record(z.string(), z.string()).catch({})
const Environment = z.object({
  template: z.object({
    spec: z.object({
      containers: z.array(
        z.object({ env: z.array(z.object({ name: z.string(), value: z.string().optional() })).default([]) }),
      ),
    }),
  }),
})

/** As of a workload: a pod is what the template of its workload says. */
const toSpec = ({ fields, kind }: ClusterObject): unknown => (kind === 'Pod' ? { template: fields } : fields.spec)

/**
 * The values of secrets that logs of these containers must not show. The Secrets are asked for by name: an agent has no right to list them.
 *
 * @param objects a workload and its pods: those of another release may name other Secrets
 */
export async function readSecretValues(
  cluster: Pick<Cluster, 'get'>,
  objects: readonly ClusterObject[],
): Promise<string[]> {
  const keys = new Set(objects.flatMap((object) => [...getSecretKeys(object)]))
  const isReadable = (object: ClusterObject) => keys.size > 0 || isOurs(object)
  const specs = objects.filter(isReadable).map(toSpec)
  const open = specs.flatMap((spec) =>
    (Environment.safeParse(spec).data?.template.spec.containers ?? []).flatMap(({ env }) =>
      env.flatMap(({ name, value }) => (value !== undefined && keys.has(name) ? [value] : [])),
    ),
  )
  const inEnvironment = new Set(specs.flatMap((spec) => listEnvironmentRefs({ fields: { spec } })).map(toKey))
  const refs = specs.flatMap((spec) => listConfigRefs({ fields: { spec } }))
  const named = refs.filter((ref) => ref.kind === 'Secret' && (keys.size > 0 || inEnvironment.has(toKey(ref))))
  const namespace = objects[0]?.namespace ?? ''
  const found = await Promise.all(
    [...new Set(named.map(({ name }) => name))].map((name) => cluster.get({ kind: 'Secret', namespace, name })),
  )
  const sealed = found.flatMap((secret) => {
    if (!secret) return []
    // All that a release puts there is secret, also under keys that the workload does not name any more.
    const isWhole = isOurs(secret) && inEnvironment.has(toKey({ kind: 'Secret', name: secret.name }))
    return Object.entries(Data.parse(secret.fields.data)).flatMap(([key, value]) =>
      isWhole || keys.has(key) ? [Buffer.from(value, 'base64').toString('utf8')] : [],
    )
  })
  return [...open, ...sealed]
}

import { z } from 'zod'
import { byName, type Fact, type Inspection, listByPath, toFacts } from './inspection-facts.ts'

const Reference = z.object({ name: z.string().optional(), key: z.string().optional() })
const Variable = z.object({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z.looseObject({ secretKeyRef: Reference.optional(), configMapKeyRef: Reference.optional() }).optional(),
})
const Container = z.object({
  name: z.string(),
  image: z.string().optional(),
  env: z.array(Variable).nullish(),
  envFrom: z.array(z.object({ configMapRef: Reference.optional(), secretRef: Reference.optional() })).nullish(),
  volumeMounts: z
    .array(
      z.object({
        name: z.string(),
        mountPath: z.string(),
        subPath: z.string().optional(),
        readOnly: z.boolean().optional(),
      }),
    )
    .nullish(),
})
const Volume = z.object({
  name: z.string(),
  persistentVolumeClaim: z.object({ claimName: z.string() }).optional(),
  emptyDir: z.object({ medium: z.string().optional() }).nullish(),
  configMap: Reference.optional(),
  secret: z.object({ secretName: z.string().optional() }).optional(),
})
const PodSpec = z.object({ containers: z.array(Container).min(1), volumes: z.array(Volume).nullish() })
const Metadata = z.object({
  name: z.string(),
  namespace: z.string().optional(),
  uid: z.string().optional(),
  creationTimestamp: z.string().optional(),
  labels: z.record(z.string(), z.string()).nullish(),
})
const Workload = z.object({
  kind: z.string(),
  metadata: Metadata,
  spec: z.object({ replicas: z.number().optional(), template: z.object({ spec: PodSpec }) }),
  status: z.object({ readyReplicas: z.number().optional() }).nullish(),
})
const Pod = z.object({
  metadata: Metadata,
  spec: PodSpec,
  status: z
    .object({
      phase: z.string().optional(),
      podIP: z.string().optional(),
      containerStatuses: z.array(z.object({ name: z.string(), imageID: z.string().optional() })).nullish(),
    })
    .nullish(),
})
/** A workload with its pods; a pod of others has no workload here. */
const Answer = z.object({ workload: Workload.optional(), pods: z.array(Pod) })

/** Reads what a cluster says of a workload and its pods into the tables of the page; null when it is no such answer. */
export function readClusterInspection(raw: unknown): Inspection | null {
  const { data } = Answer.safeParse(raw)
  const { pods = [], workload } = data ?? {}
  const subject = workload ?? (pods[0] && { kind: 'Pod', ...pods[0] })
  const podSpec = workload?.spec.template.spec ?? pods[0]?.spec
  const container = podSpec?.containers[0]
  if (!subject || !podSpec || !container) return null
  const { metadata } = subject
  const statuses = pods.flatMap(({ status }) => status?.containerStatuses ?? [])
  return {
    isOfCluster: true,
    general: toFacts([
      ['kind', subject.kind],
      ['namespace', metadata.namespace],
      ['name', metadata.name],
      ['id', metadata.uid],
      ['replicas', toReplicas(workload)],
      ['image', container.image],
      ['hash', statuses.find(({ name }) => name === container.name)?.imageID || undefined],
      ['createdAt', metadata.creationTimestamp],
    ]),
    environment: listEnvironment(container),
    labels: Object.entries(metadata.labels ?? {})
      .map(([name, value]) => ({ name, value }))
      .sort(byName),
    networks: pods.flatMap(({ metadata: { name }, status }) => (status?.podIP ? [{ name, value: status.podIP }] : [])),
    mounts: (container.volumeMounts ?? []).map(({ mountPath, name, readOnly, subPath }) => {
      const source = toSource(podSpec.volumes?.find((volume) => volume.name === name) ?? { name })
      return { name: mountPath, value: `${source}${subPath ? `: ${subPath}` : ''}${readOnly ? ' (read-only)' : ''}` }
    }),
    rest: listByPath(raw, shownAbove),
  }
}

/** As kubectl writes it: those that are ready, of those that are wanted. */
const toReplicas = (workload: z.infer<typeof Workload> | undefined): string | undefined =>
  workload?.spec.replicas === undefined ? undefined : `${workload.status?.readyReplicas ?? 0}/${workload.spec.replicas}`

/** The agent has replaced the values of secrets. What is read from another object is shown by its kind and name. */
function listEnvironment({ env, envFrom }: z.infer<typeof Container>): Fact[] {
  const variables = (env ?? []).map(({ name, value, valueFrom }) => {
    const { configMapKeyRef, secretKeyRef } = valueFrom ?? {}
    return { name, value: value ?? toObjectName(configMapKeyRef, secretKeyRef) ?? JSON.stringify(valueFrom) ?? '' }
  })
  const whole = (envFrom ?? []).flatMap(({ configMapRef, secretRef }) => {
    const value = toObjectName(configMapRef, secretRef)
    return value ? [{ name: '*', value }] : []
  })
  return [...variables.sort(byName), ...whole]
}

type Ref = z.infer<typeof Reference> | undefined

function toObjectName(configMap: Ref, secret: Ref): string | undefined {
  const [kind, ref] = secret ? ['Secret', secret] : ['ConfigMap', configMap]
  return ref && [kind, ref.name, ref.key].filter(Boolean).join('/')
}

function toSource({ configMap, emptyDir, name, persistentVolumeClaim, secret }: z.infer<typeof Volume>): string {
  if (persistentVolumeClaim) return `PersistentVolumeClaim/${persistentVolumeClaim.claimName}`
  if (emptyDir) return emptyDir.medium ? `emptyDir (${emptyDir.medium})` : 'emptyDir'
  return toObjectName(configMap, secret && { name: secret.secretName }) ?? name
}

/** Paths that the tables show already. */
const shownAbove = new Set(
  ['kind', 'metadata.name', 'metadata.namespace', 'metadata.uid', 'metadata.creationTimestamp', 'metadata.labels'].map(
    (path) => `workload.${path}`,
  ),
)

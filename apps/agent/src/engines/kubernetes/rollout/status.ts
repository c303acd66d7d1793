import { canonicalJson } from '@crux/rules'
import { z } from 'zod'
import type { ClusterObject } from '../cluster/cluster.ts'

/** The parts of foreign JSON that decide about a rollout. What is absent counts as the API's default. */

const count = z.number().default(0)
const Condition = z.object({
  type: z.string(),
  status: z.string(),
  reason: z.string().default(''),
  message: z.string().default(''),
})
export type Condition = z.output<typeof Condition>

const conditions = z.array(Condition).default([])

const Deployment = z.object({
  spec: z.object({
    replicas: z.number().default(1),
    progressDeadlineSeconds: z.number().default(600),
    strategy: z.object({ type: z.string().default('') }).prefault({}),
  }),
  status: z
    .object({
      observedGeneration: count,
      replicas: count,
      updatedReplicas: count,
      availableReplicas: count,
      conditions,
    })
    .prefault({}),
})

const ReplicaSet = z.object({ status: z.object({ conditions }).prefault({}) })

const Job = z.object({
  status: z.object({ succeeded: count, failed: count, conditions }).prefault({}),
})

const Ended = z.object({
  exitCode: z.number(),
  reason: z.string().default(''),
  message: z.string().default(''),
  signal: z.number().optional(),
})
export type Ended = z.output<typeof Ended>

const State = z
  .object({
    waiting: z.object({ reason: z.string().default(''), message: z.string().default('') }).optional(),
    running: z.object({ startedAt: z.string().optional() }).optional(),
    terminated: Ended.optional(),
  })
  .prefault({})

const ContainerStatus = z.object({
  name: z.string(),
  ready: z.boolean().default(false),
  restartCount: count,
  state: State,
  lastState: State,
})
export type ContainerStatus = z.output<typeof ContainerStatus>

const Pod = z.object({
  status: z
    .object({
      phase: z.string().default(''),
      reason: z.string().default(''),
      message: z.string().default(''),
      conditions,
      initContainerStatuses: z.array(ContainerStatus).default([]),
      containerStatuses: z.array(ContainerStatus).default([]),
    })
    .prefault({}),
})

const PodGrace = z.object({ terminationGracePeriodSeconds: z.number().default(30) })

const PodVolumes = z.object({
  volumes: z.array(z.object({ persistentVolumeClaim: z.object({ claimName: z.string() }).optional() })).default([]),
})

const EventFields = z.object({
  type: z.string().default(''),
  reason: z.string().default(''),
  message: z.string().default(''),
  involvedObject: z.object({
    kind: z.string().default(''),
    name: z.string().default(''),
    uid: z.string().default(''),
    fieldPath: z.string().default(''),
  }),
})
export type EventFields = z.output<typeof EventFields>

/** Undefined for an object that is none of its kind. */
export const readDeployment = (object: ClusterObject) => Deployment.safeParse(object.fields).data
export const readReplicaSet = (object: ClusterObject) => ReplicaSet.safeParse(object.fields).data
export const readJob = (object: ClusterObject) => Job.safeParse(object.fields).data
export const readPod = (object: ClusterObject) => Pod.safeParse(object.fields).data?.status
export const getGraceSeconds = ({ fields }: ClusterObject): number =>
  PodGrace.safeParse(fields.spec).data?.terminationGracePeriodSeconds ?? 0
/** The names of the claims that a pod mounts. */
export const readClaims = ({ fields }: Pick<ClusterObject, 'fields'>): string[] =>
  (PodVolumes.safeParse(fields.spec).data?.volumes ?? []).flatMap(
    ({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? [],
  )
const events = new WeakMap<object, EventFields>()

/** Events are read again and again, for each pod of each rollout. */
export function readEvent({ fields }: ClusterObject): EventFields | undefined {
  const known = events.get(fields)
  if (known) return known
  const { data } = EventFields.safeParse(fields)
  if (data) events.set(fields, data)
  return data
}

const Template = z.object({
  template: z.looseObject({
    metadata: z.looseObject({ labels: z.record(z.string(), z.string()).default({}) }).prefault({}),
  }),
})
const templates = new WeakMap<object, string>()

/** The pod template of a Deployment or of one of its ReplicaSets, which are equal for the same pods. Objects are judged again and again. */
export function describeTemplate({ fields }: Pick<ClusterObject, 'fields'>): string {
  const known = templates.get(fields)
  if (known !== undefined) return known
  const { metadata, ...template } = Template.safeParse(fields.spec).data?.template ?? { metadata: { labels: {} } }
  const { 'pod-template-hash': _added, ...labels } = metadata.labels
  const text = canonicalJson({ ...template, metadata: { ...metadata, labels } })
  templates.set(fields, text)
  return text
}

/** The revision of a Deployment or of one of its ReplicaSets, as the Deployment's controller counts it. */
export const getRevision = ({ annotations }: ClusterObject): string =>
  annotations['deployment.kubernetes.io/revision'] ?? ''

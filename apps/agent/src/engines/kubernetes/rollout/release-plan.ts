import { z } from 'zod'
import type { Journal } from '../../../journal/journal.ts'
import type { Manifest, ObjectKind } from '../cluster/cluster.ts'
import type { ResolvedWorkload } from '../plan/manifests.ts'

const replacedKinds = ['Deployment', 'Job', 'Service', 'Ingress', 'ServiceMonitor'] as const satisfies ObjectKind[]

const isManifest = (value: unknown): value is Manifest =>
  typeof value === 'object' && value !== null && 'apiVersion' in value && 'kind' in value && 'metadata' in value

const ReplacedObject = z.object({
  kind: z.enum(replacedKinds),
  name: z.string(),
  /** What the object was before the release; absent when it did not exist. */
  previous: z.custom<Manifest>(isManifest).optional(),
})
export type ReplacedObject = z.output<typeof ReplacedObject>

const PlannedWorkload = z.object({
  instanceId: z.string(),
  name: z.string(),
  kind: z.enum(['Deployment', 'Job']),
  /** `keep`: nothing about it changes. */
  mode: z.enum(['keep', 'first', 'replace']),
  /** What the release creates or changes for it, in this order. */
  objects: z.array(ReplacedObject),
})
export type PlannedWorkload = z.output<typeof PlannedWorkload>

const ConfigRef = z.object({ kind: z.enum(['ConfigMap', 'Secret']), name: z.string() })
export type ConfigRef = z.output<typeof ConfigRef>

/** What a release does with the objects that exist, decided once and stored in the journal before anything changes. */
export const ReleasePlan = z.object({
  engine: z.literal('kubernetes'),
  namespace: z.string(),
  workloads: z.array(PlannedWorkload),
  /** Names of the workloads of previous releases that end with this one. */
  leaving: z.array(z.object({ kind: z.enum(['Deployment', 'Job']), name: z.string(), instanceId: z.string() })),
  /** Config and secrets of workloads that change or end, before and after the release: deleted once nothing names them. */
  config: z.array(ConfigRef).default([]),
})
export type ReleasePlan = z.output<typeof ReleasePlan>

/** The kinds that a release changes in place, and changes back when it fails. */
export const isReplacedKind = (kind: ObjectKind): kind is ReplacedObject['kind'] =>
  replacedKinds.some((one) => one === kind)

/** The plan of a release that has one. Only this engine reads what it has written. */
export const getPlan = (journal: Journal): ReleasePlan | undefined => ReleasePlan.safeParse(journal.state.plan).data

/** Workloads under the names of the plan: an earlier agent may have made it, and named their Jobs in another way. */
export const withPlannedNames = (
  workloads: readonly ResolvedWorkload[],
  { workloads: planned }: Pick<ReleasePlan, 'workloads'>,
): ResolvedWorkload[] =>
  workloads.map((one) => {
    const { workload } = one.manifests
    const found = planned.find(({ instanceId, kind }) => instanceId === one.instanceId && kind === workload.kind)
    if (!found) return one
    const named = { ...workload, metadata: { ...workload.metadata, name: found.name } }
    return { ...one, manifests: { ...one.manifests, workload: named } }
  })

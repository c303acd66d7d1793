import { z } from 'zod'
import type { ClusterObject } from '../cluster/cluster.ts'
import { parseQuantity, type Resources, toResources } from './resources.ts'

/** Resources, and the number of pods. */
export type Capacity = Resources & { pods: number }

export interface MachineRecord {
  name: string
  isReady: boolean
  isCordoned: boolean
  problems: { type: string; reason: string; message: string }[]
  kubeletVersion: string
  architecture: string
  allocatable: Capacity
}

const text = z.string().default('')
const Node = z.object({
  spec: z.object({ unschedulable: z.boolean().default(false) }).prefault({}),
  status: z
    .object({
      allocatable: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
      conditions: z.array(z.object({ type: text, status: text, reason: text, message: text })).default([]),
      nodeInfo: z.object({ kubeletVersion: text, architecture: text }).prefault({}),
    })
    .prefault({}),
})

/** Conditions of which only `False` is good. Others are made by programs of the cluster, and mean what these decide. */
const badConditions = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable']

/** A machine of the cluster; undefined for an object whose shape is unknown. */
export function toMachineRecord(object: ClusterObject): MachineRecord | undefined {
  const parsed = Node.safeParse(object.fields).data
  if (!parsed) return undefined
  const { allocatable, conditions, nodeInfo } = parsed.status
  const ready = conditions.find(({ type }) => type === 'Ready')
  const isReady = ready?.status === 'True'
  const bad = conditions.filter(({ status, type }) => status === 'True' && badConditions.includes(type))
  return {
    name: object.name,
    isReady,
    isCordoned: parsed.spec.unschedulable,
    problems: [
      ...(isReady ? [] : [{ type: 'NotReady', reason: ready?.reason ?? '', message: ready?.message ?? '' }]),
      ...bad.map(({ message, reason, type }) => ({ type, reason, message })),
    ],
    ...nodeInfo,
    allocatable: { ...toResources(allocatable), pods: Math.floor(parseQuantity(allocatable.pods)) },
  }
}

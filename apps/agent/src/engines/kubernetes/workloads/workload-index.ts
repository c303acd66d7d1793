import type { Container } from '@crux/agent-protocol'
import type { ClusterObject } from '../cluster/cluster.ts'
import type { Capacity } from '../machines/machine.ts'
import { add } from '../machines/resources.ts'
import {
  type AddressKind,
  type AddressRecord,
  addressKinds,
  isAddressKind,
  toAddressRecord,
  toWorkloadKey,
} from './external-addresses.ts'
import {
  isOlder,
  isOurs,
  type PodRecord,
  type ReplicaSetRecord,
  toPodRecord,
  toReplicaSetRecord,
  toWorkloadRecord,
  type WorkloadRecord,
} from './records.ts'
import { toForeignRow, toWorkloadRow } from './row.ts'

/** One watch each, for the whole cluster. */
export const watchedKinds = ['Deployment', 'Job', 'ReplicaSet', 'Pod'] as const
export type WatchedKind = (typeof watchedKinds)[number] | AddressKind

type Stored = WorkloadRecord | ReplicaSetRecord | PodRecord | AddressRecord

export const isWatchedKind = (kind: string): kind is WatchedKind =>
  [...watchedKinds, ...addressKinds].some((one) => one === kind)

/** The workloads of the cluster with their pods, as records that are found by each other's uids. */
export class WorkloadIndex {
  readonly #workloads = new Map<string, WorkloadRecord>()
  readonly #replicaSets = new Map<string, ReplicaSetRecord>()
  readonly #pods = new Map<string, PodRecord>()
  /** Uids of pods by that of their owner, or their own. */
  readonly #podsByOwner = new Map<string, Set<string>>()
  readonly #replicaSetsByDeployment = new Map<string, Set<string>>()
  readonly #addresses = new Map<string, AddressRecord>()
  /** Uids of addresses and of workloads by the key that they have in common. */
  readonly #addressesByKey = new Map<string, Set<string>>()
  readonly #workloadsByKey = new Map<string, Set<string>>()

  get(id: string): WorkloadRecord | undefined {
    return this.#workloads.get(id)
  }

  /** Ids of everything that has a row. */
  ids(): Set<string> {
    const ids = new Set(this.#workloads.keys())
    for (const pod of this.#pods.values()) {
      const id = this.#toGroup(pod)
      if (id !== undefined) ids.add(id)
    }
    return ids
  }

  /** Pods of a workload, the oldest first. */
  listPods(id: string): PodRecord[] {
    const owners = [id, ...(this.#replicaSetsByDeployment.get(id) ?? [])]
    const uids = owners.flatMap((owner) => [...(this.#podsByOwner.get(owner) ?? [])])
    return uids
      .flatMap((uid) => this.#pods.get(uid) ?? [])
      .sort((left, right) => left.createdAt - right.createdAt || left.name.localeCompare(right.name))
  }

  toRow(id: string): Container | undefined {
    const pods = this.listPods(id)
    const workload = this.#workloads.get(id)
    if (workload) return toWorkloadRow(workload, pods, this.#listAddresses(workload))
    const [first] = pods
    if (!first || this.#toGroup(first) !== id) return undefined
    const owner = this.#replicaSets.get(id) ?? { ...first.owner, namespace: first.namespace }
    return toForeignRow({ uid: id, namespace: owner.namespace, name: owner.name ?? first.name }, pods)
  }

  /**
   * Stores an object unless a newer state of it is known.
   *
   * @returns ids of the rows that it may change
   */
  set(kind: WatchedKind, object: ClusterObject): string[] {
    if (kind === 'Pod') return this.#setPod(toPodRecord(object))
    if (kind === 'ReplicaSet') return this.#setReplicaSet(toReplicaSetRecord(object))
    if (isAddressKind(kind)) return this.#setAddresses(kind, object)
    const record = toWorkloadRecord(object)
    if (!record || isKnown(this.#workloads, record)) return []
    this.#forgetKey(record.uid)
    this.#workloads.set(record.uid, record)
    if (isOurs(record)) addTo(this.#workloadsByKey, toWorkloadKey(record), record.uid)
    return [record.uid]
  }

  /** @returns ids of the rows that it may change */
  delete(kind: WatchedKind, uid: string): string[] {
    if (kind === 'Pod') {
      const pod = this.#pods.get(uid)
      if (!pod) return []
      const group = this.#toGroup(pod)
      this.#pods.delete(uid)
      removeFrom(this.#podsByOwner, pod.owner?.uid ?? uid, uid)
      return group === undefined ? [] : [group]
    }
    if (kind === 'ReplicaSet') {
      const replicaSet = this.#replicaSets.get(uid)
      this.#replicaSets.delete(uid)
      if (replicaSet?.deployment === undefined) return [uid]
      removeFrom(this.#replicaSetsByDeployment, replicaSet.deployment, uid)
      return [replicaSet.deployment]
    }
    if (isAddressKind(kind)) return this.#deleteAddresses(uid)
    this.#forgetKey(uid)
    this.#workloads.delete(uid)
    return [uid]
  }

  /**
   * Deletes all objects of a kind that a list did not have.
   *
   * @returns ids of the rows that it may change
   */
  keepOnly(kind: WatchedKind, uids: ReadonlySet<string>): string[] {
    return [...this.#listRecords(kind)].flatMap(({ uid }) => (uids.has(uid) ? [] : this.delete(kind, uid)))
  }

  /** What the pods on each machine have requested, by its name. */
  sumRequests(): Map<string, Capacity> {
    const sums = new Map<string, Capacity>()
    for (const { machine, requests } of this.#pods.values()) {
      if (machine === '' || !requests) continue
      const sum = sums.get(machine) ?? { cpuMillis: 0, memoryBytes: 0, pods: 0 }
      sums.set(machine, { ...add(sum, requests), pods: sum.pods + 1 })
    }
    return sums
  }

  #listAddresses(workload: WorkloadRecord): AddressRecord[] {
    if (this.#addresses.size === 0 || !isOurs(workload)) return []
    const uids = this.#addressesByKey.get(toWorkloadKey(workload)) ?? []
    return [...uids]
      .flatMap((uid) => this.#addresses.get(uid) ?? [])
      .sort((left, right) => left.type - right.type || left.uid.localeCompare(right.uid))
  }

  #setAddresses(kind: AddressKind, object: ClusterObject): string[] {
    const known = this.#addresses.get(object.uid)
    if (known && isOlder(object, known)) return []
    const before = this.#deleteAddresses(object.uid)
    const record = isOurs(object) ? toAddressRecord(kind, object) : undefined
    if (!record) return before
    this.#addresses.set(record.uid, record)
    addTo(this.#addressesByKey, record.workload, record.uid)
    return [...new Set([...before, ...(this.#workloadsByKey.get(record.workload) ?? [])])]
  }

  #deleteAddresses(uid: string): string[] {
    const record = this.#addresses.get(uid)
    if (!record) return []
    this.#addresses.delete(uid)
    removeFrom(this.#addressesByKey, record.workload, uid)
    return [...(this.#workloadsByKey.get(record.workload) ?? [])]
  }

  #forgetKey(uid: string): void {
    const workload = this.#workloads.get(uid)
    if (workload) removeFrom(this.#workloadsByKey, toWorkloadKey(workload), uid)
  }

  *#listRecords(kind: WatchedKind): Generator<Stored> {
    if (kind === 'Pod') yield* this.#pods.values()
    else if (kind === 'ReplicaSet') yield* this.#replicaSets.values()
    else if (isAddressKind(kind)) {
      for (const record of this.#addresses.values()) if (record.kind === kind) yield record
    } else for (const record of this.#workloads.values()) if (record.kind === kind) yield record
  }

  #setPod(pod: PodRecord | undefined): string[] {
    if (!pod || isKnown(this.#pods, pod)) return []
    const before = this.#pods.get(pod.uid)
    const left = before ? this.#toGroup(before) : undefined
    if (before) removeFrom(this.#podsByOwner, before.owner?.uid ?? before.uid, before.uid)
    this.#pods.set(pod.uid, pod)
    addTo(this.#podsByOwner, pod.owner?.uid ?? pod.uid, pod.uid)
    const group = this.#toGroup(pod)
    return [...new Set([left, group])].flatMap((id) => id ?? [])
  }

  #setReplicaSet(replicaSet: ReplicaSetRecord): string[] {
    const before = this.#replicaSets.get(replicaSet.uid)
    if (isKnown(this.#replicaSets, replicaSet)) return []
    if (before?.deployment !== undefined) removeFrom(this.#replicaSetsByDeployment, before.deployment, before.uid)
    this.#replicaSets.set(replicaSet.uid, replicaSet)
    const { deployment, uid } = replicaSet
    if (deployment !== undefined) addTo(this.#replicaSetsByDeployment, deployment, uid)
    return [...new Set([before?.deployment ?? uid, deployment ?? uid])]
  }

  /** The id of a pod's row; undefined while the objects between are not known yet. */
  #toGroup(pod: PodRecord): string | undefined {
    const { owner, uid } = pod
    if (!owner) return uid
    if (owner.kind !== 'ReplicaSet')
      return owner.kind !== 'Job' || this.#workloads.has(owner.uid) ? owner.uid : undefined
    const replicaSet = this.#replicaSets.get(owner.uid)
    if (!replicaSet) return undefined
    const { deployment } = replicaSet
    if (deployment === undefined) return owner.uid
    return this.#workloads.has(deployment) ? deployment : undefined
  }
}

function isKnown<T extends { uid: string; resourceVersion: string }>(
  records: ReadonlyMap<string, T>,
  record: T,
): boolean {
  const known = records.get(record.uid)
  return known !== undefined && isOlder(record, known)
}

function addTo(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key) ?? new Set()
  sets.set(key, set.add(value))
}

function removeFrom(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key)
  set?.delete(value)
  if (set?.size === 0) sets.delete(key)
}

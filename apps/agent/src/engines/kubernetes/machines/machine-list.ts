import type { MessageInitShape } from '@bufbuild/protobuf'
import type { MachineListSchema, MachineResourcesSchema, MachineSchema } from '@crux/agent-protocol'
import { createTtlCache, loadShared } from '@crux/service-kit'
import { getMessage, isEngineError } from '../../../errors.ts'
import type { MachineRequest } from '../../engine.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { type Capacity, type MachineRecord, toMachineRecord } from './machine.ts'
import { add } from './resources.ts'

/** Many pages ask at the same time, and each machine has ten kilobytes in the API. */
const ttlMs = 10_000
const takeMax = 250

export interface MachineListOptions {
  /** Not limited to namespaces: machines are in none. */
  cluster: Pick<Cluster, 'pages'>
  /** What the pods on each machine have requested; undefined where not all pods of the cluster are known. */
  sumRequests: (() => Promise<ReadonlyMap<string, Capacity>>) | undefined
  /** The agent's namespace, which an admin needs to grant it the right. */
  ownNamespace: string | undefined
}

const none: Capacity = { cpuMillis: 0, memoryBytes: 0, pods: 0 }

/** The machines of a cluster, read when they are asked for and shared for ten seconds. */
export function createMachineList({ cluster, ownNamespace, sumRequests }: MachineListOptions) {
  const known = createTtlCache<'machines', Promise<MachineRecord[]>>({ ttlMs, max: 1 })
  return async function list(request: MachineRequest): Promise<MessageInitShape<typeof MachineListSchema>> {
    let machines: MachineRecord[]
    try {
      machines = await loadShared(known, 'machines', () => readMachines(cluster))
    } catch (error) {
      if (!isEngineError(error, 'refused')) throw error
      return { missingRight: getMessage(error), agentNamespace: ownNamespace ?? '' }
    }
    const requested = await sumRequests?.()
    const toRequested = ({ name }: MachineRecord) => requested?.get(name) ?? none
    const search = request.search.toLowerCase()
    const matching = machines.filter(({ name }) => name.toLowerCase().includes(search))
    const shown = matching.slice(request.skip, request.skip + Math.min(request.take, takeMax))
    return {
      machines: shown.map((machine) => toMachine(machine, toRequested(machine))),
      matching: matching.length,
      total: machines.length,
      ready: machines.filter(({ isReady }) => isReady).length,
      allocatable: toMessage(sum(machines.map(({ allocatable }) => allocatable))),
      requested: toMessage(sum(machines.map(toRequested))),
      requestsKnown: requested !== undefined,
    }
  }
}

async function readMachines(cluster: Pick<Cluster, 'pages'>): Promise<MachineRecord[]> {
  const machines: MachineRecord[] = []
  for await (const { isFirst, objects } of cluster.pages('Node', {})) {
    if (isFirst) machines.length = 0
    machines.push(...objects.flatMap((object) => toMachineRecord(object) ?? []))
  }
  const keys = new Map(machines.map((machine) => [machine, rank(machine)]))
  return machines.sort(
    (left, right) => (keys.get(left) ?? 0) - (keys.get(right) ?? 0) || compareNames(left.name, right.name),
  )
}

/** What needs attention comes first. */
function rank({ isCordoned, isReady, problems }: MachineRecord): number {
  if (!isReady) return 0
  return isCordoned || problems.length > 0 ? 1 : 2
}

/** "worker-2" comes before "worker-10". */
const { compare: compareNames } = new Intl.Collator('en', { numeric: true })

const sum = (capacities: readonly Capacity[]): Capacity =>
  capacities.reduce((left, right) => ({ ...add(left, right), pods: left.pods + right.pods }), none)

const toMessage = ({ cpuMillis, memoryBytes, pods }: Capacity): MessageInitShape<typeof MachineResourcesSchema> => ({
  cpuMillis: toInteger(cpuMillis),
  memoryBytes: toInteger(memoryBytes),
  pods: toInteger(pods),
})

const toInteger = (amount: number): bigint => BigInt(Math.min(amount, Number.MAX_SAFE_INTEGER))

const toMachine = (
  { allocatable, architecture, isCordoned, isReady, kubeletVersion, name, problems }: MachineRecord,
  requested: Capacity,
): MessageInitShape<typeof MachineSchema> => ({
  name,
  ready: isReady,
  cordoned: isCordoned,
  problems,
  kubeletVersion,
  architecture,
  allocatable: toMessage(allocatable),
  requested: toMessage(requested),
})

import {
  type ExternalAddresses,
  ExternalAddressType,
  type Machine,
  type MachineList,
  type MachineResources,
} from '@crux/agent-protocol'
import { machinesTakeMax } from '@crux/contract'
import { cut, safeInteger, text } from './checked-values.ts'

const addressesMax = 10
/** A workload has one load balancer and one ingress. */
const entriesMax = 10
/** An IP address, or the name of a host. */
const addressPattern = /^[A-Za-z0-9_.:-]{1,253}$/
const problemsMax = 20
const knownTypes = Object.values(ExternalAddressType)

/** Machines of a cluster, as `checkAnswer` checks all that agents send. */
export function checkMachines(list: MachineList): MachineList {
  return {
    ...list,
    missingRight: cut(list.missingRight, text.sentence),
    agentNamespace: cut(list.agentNamespace, text.short),
    machines: list.machines.slice(0, machinesTakeMax).map(checkMachine),
    ...checkResources(list),
  }
}

function checkMachine(machine: Machine): Machine {
  return {
    ...machine,
    name: cut(machine.name, text.short),
    kubeletVersion: cut(machine.kubeletVersion, text.short),
    architecture: cut(machine.architecture, text.short),
    problems: machine.problems.slice(0, problemsMax).map((problem) => ({
      ...problem,
      type: cut(problem.type, text.short),
      reason: cut(problem.reason, text.short),
      message: cut(problem.message, text.sentence),
    })),
    ...checkResources(machine),
  }
}

type Amounts = { allocatable?: MachineResources; requested?: MachineResources }

function checkResources({ allocatable, requested }: Amounts): Amounts {
  return {
    ...(allocatable && { allocatable: checkAmounts(allocatable) }),
    ...(requested && { requested: checkAmounts(requested) }),
  }
}

const checkAmounts = (amounts: MachineResources): MachineResources => ({
  ...amounts,
  cpuMillis: safeInteger(amounts.cpuMillis),
  memoryBytes: safeInteger(amounts.memoryBytes),
  pods: safeInteger(amounts.pods),
})

/** Of a type that a later agent may know, nothing is shown. */
export const checkAddresses = (all: readonly ExternalAddresses[]): ExternalAddresses[] =>
  all
    .filter(({ type }) => knownTypes.includes(type))
    .slice(0, entriesMax)
    .map((one) => ({
      ...one,
      addresses: one.addresses.filter((address) => addressPattern.test(address)).slice(0, addressesMax),
    }))

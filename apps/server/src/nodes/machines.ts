import type { MachineList, MachineResources } from '@crux/agent-protocol'
import { CruxError, isAllowed, type Query, type ResponseInput } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import { unusableAnswer } from '../agent-links/index.ts'
import type { App } from '../context.ts'
import { requireNode } from './actions.ts'
import { engineScope } from './engine-scope-store.ts'
import { isOutOfDate, type NodeRow } from './store.ts'

/** Thousands of machines are many megabytes, which the agent reads and keeps for a few seconds. */
const listTimeoutMs = 20_000

/**
 * The machines of a cluster with what is requested of them. Requests are sums: no pod of others is named.
 *
 * @throws CruxError preconditionFailed for a node that is no cluster, otherwise as `app.links.request`
 */
export async function listMachines(
  app: App,
  { team }: Caller,
  nodeId: string,
  { search = '', skip, take }: Query<'nodes.machines'>,
): Promise<ResponseInput<'nodes.machines'>> {
  const row = await requireNode(app, team, nodeId)
  if (row.type !== 'k8s') throw refuse('type', 'Only a cluster has machines.')
  const list = await requestMachines(app, row, { search, skip, take })
  // The words of the cluster are about its inner workings, such as addresses and plugins.
  const isExplained = isAllowed(team.role, 'nodes.edit')
  const { agentNamespace, machines, matching, missingRight, ready, total } = list
  const toRequested = (requested: MachineResources | undefined) => (list.requestsKnown ? toCapacity(requested) : null)
  return {
    missingRight:
      missingRight === '' ? null : { description: missingRight, agentNamespace: toNamespace(agentNamespace) },
    items: machines.map(({ allocatable, architecture, cordoned, kubeletVersion, name, problems, ...one }) => ({
      name,
      ready: one.ready,
      cordoned,
      problems: problems.map(({ message, reason, type }) => ({ type, reason, message: isExplained ? message : null })),
      kubeletVersion,
      architecture,
      allocatable: toCapacity(allocatable),
      requested: toRequested(one.requested),
    })),
    total: matching,
    cluster: {
      machines: total,
      ready,
      allocatable: toCapacity(list.allocatable),
      requested: toRequested(list.requested),
    },
  }
}

async function requestMachines(
  app: App,
  row: NodeRow,
  page: { search: string; skip: number; take: number },
): Promise<MachineList> {
  const scope = await engineScope(app, { teamId: row.teamId, nodeId: row.id })
  const answer = await app.links
    .request(row.id, { case: 'listMachines', value: { scope, ...page } }, listTimeoutMs)
    .catch((error: unknown) => {
      if (!(error instanceof CruxError)) throw error
      if (error.code === 'notFound' && error.property === 'agent')
        throw refuse('node', 'The node is not connected, so that its machines cannot be listed.')
      if (error.code !== 'serviceUnavailable' || !isOutOfDate(row)) throw error
      throw refuse('agent', 'The agent has not answered. Earlier versions do not list machines: install it again.')
    })
  if (answer.case !== 'machines') throw unusableAnswer()
  return answer.value
}

const refuse = (property: string, description: string) => new CruxError('preconditionFailed', { property, description })

const toCapacity = ({ cpuMillis, memoryBytes, pods }: Partial<MachineResources> = {}) => ({
  cpuMillis: Number(cpuMillis ?? 0n),
  memoryBytes: Number(memoryBytes ?? 0n),
  pods: Number(pods ?? 0n),
})

/** It becomes part of a command that an admin copies into a shell. */
const toNamespace = (name: string): string | null => (/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name) ? name : null)

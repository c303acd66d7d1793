import type { AgentInfo } from '@crux/agent-protocol'
import type { ContainerOperation, NodeEventType, NodeStatus } from '@crux/contract'
import type { App } from '../context.ts'
import { recordEvent } from '../system/index.ts'
import { insertNodeEvent } from './store.ts'
import type { EndedUpdate } from './update-store.ts'

export type NodeRef = { teamId: string; nodeId: string }
export type KickReason = 'user-kick' | 'revoke-token' | 'delete-node'
type User = { id: string; name: string }
const getName = ({ id, name }: User): User => ({ id, name })
type Container = { prefix: string; name: string }
const errorMax = 500
/** The parts of the process that an event needs; the gateway has no more when it starts. */
type Parts = Pick<App, 'database' | 'log' | 'metrics' | 'bus'>

/** One function per event of a node, so that the node's own log, the process's log and the bus always get it together. */
export const nodeInstalled = (app: Parts, node: NodeRef, info: AgentInfo) =>
  happened(app, node, 'installed', agentData(info))

export async function nodeConnected(app: Parts, node: NodeRef, info: AgentInfo, supported: boolean) {
  await happened(app, node, 'connected', agentData(info))
  nodeChanged(app, node, supported ? 'connected' : 'outdated')
}

export async function nodeLeft(app: Parts, node: NodeRef) {
  await happened(app, node, 'left')
  nodeChanged(app, node, 'unreachable')
}

export async function nodeKicked(app: Parts, node: NodeRef, reason: KickReason, user: User) {
  await happened(app, node, 'kicked', { reason, user: getName(user) })
  app.bus.publish({
    type: 'node.close',
    nodeId: node.nodeId,
    reason: reason === 'revoke-token' ? 'token-revoked' : 'shutdown',
  })
  nodeChanged(app, node)
}

export async function nodeTokenReplaced(app: Parts, node: NodeRef) {
  await happened(app, node, 'tokenReplaced')
  nodeChanged(app, node)
}

export async function agentUpdateStarted(app: Parts, node: NodeRef, data: { fromVersion: string; tag: string }) {
  await happened(app, node, 'update', data)
  nodeChanged(app, node)
}

export async function agentUpdateCompleted(app: Parts, update: EndedUpdate, toVersion: string) {
  await happened(app, update, 'tokenReplaced')
  const startedBy = { id: update.startedById, name: update.startedByName }
  await happened(app, update, 'updateCompleted', { startedBy, toVersion })
  nodeChanged(app, update)
}

export async function agentUpdateFailed(app: Parts, update: EndedUpdate) {
  await happened(app, update, 'update', { fromVersion: update.fromVersion, error: update.error })
  app.bus.publish({
    type: 'node.changed',
    teamId: update.teamId,
    nodeId: update.nodeId,
    // An event of the bus has 8,000 bytes at most; the node's page has the whole text.
    ...(update.error && { error: update.error.slice(0, errorMax) }),
  })
}

export const containerCommanded = (
  app: Parts,
  node: NodeRef,
  target: {
    container?: Container
    prefix?: string
    operation: ContainerOperation | 'deleteContainer' | 'deleteContainers'
  },
  user: User,
) => {
  const { operation, ...rest } = target
  return happened(app, node, 'containerCommand', {
    operation: operation.endsWith('s') || operation === 'deleteContainer' ? operation : `${operation}Container`,
    ...rest,
    user: getName(user),
  })
}

/** Pages that show the node read it again. */
export const nodeChanged = (app: Pick<Parts, 'bus'>, node: NodeRef, status?: NodeStatus) =>
  app.bus.publish({ type: 'node.changed', teamId: node.teamId, nodeId: node.nodeId, status })

async function happened(app: Parts, node: NodeRef, event: NodeEventType, data?: Record<string, unknown>) {
  recordEvent(app, { nodeId: node.nodeId, event, ...(data && { data }) }, 'node event', `node ${event}`)
  await insertNodeEvent(app.database, { nodeId: node.nodeId, event, data: data ?? null })
}

const agentData = (info: AgentInfo) => ({
  version: info.version,
  engineVersion: info.engineVersion,
  operatingSystem: info.operatingSystem,
  architecture: info.architecture,
  ...(info.containerName && { containerName: info.containerName }),
})

import {
  type Body,
  CruxError,
  isAllowed,
  isClusterNamespace,
  type NodeType,
  patterns,
  type Query,
  type ResponseInput,
  scopeCovers,
} from '@crux/contract'
import { nodeTakesCommands } from '@crux/rules'
import type { Actor, Caller } from '../access/index.ts'
import { isLoopbackOnly } from '../config/index.ts'
import type { App } from '../context.ts'
import type { InstallOptions } from '../db/schema/nodes.ts'
import { inTransaction } from '../db/transaction.ts'
import { recordTeamEvent } from '../team-events/index.ts'
import { recordDeletedNode } from './engine-scope-store.ts'
import { nodeChanged, nodeKicked } from './events.ts'
import { kubernetesScript } from './install-kubernetes.ts'
import { agentManifest } from './install-manifest.ts'
import { installCommand, installScript } from './install-script.ts'
import { issueInstallToken, openInstallToken } from './install-token.ts'
import { clusterValues, scriptValues } from './install-values.ts'
import type { LocalAgents } from './local-agents.ts'
import {
  deleteInstall,
  deleteNodeRow,
  deleteTokens,
  findNode,
  findNodeDetails,
  findNodeEvents,
  findNodes,
  hasDeployments,
  type InstallRow,
  insertNode,
  listEnvironmentNames,
  lockNode,
  type NodeRow,
  setNodeType,
  toNode,
  updateNodeRow,
} from './store.ts'
import { cancelUpdate, describeUpdate, isUpdating } from './updates.ts'

export async function listNodes(app: App, { team }: Caller): Promise<ResponseInput<'nodes.list'>> {
  return (await findNodes(app, team.id)).map(toNode)
}

export async function getNode(
  app: App,
  localAgents: LocalAgents,
  { team, actor }: Caller,
  nodeId: string,
): Promise<ResponseInput<'nodes.get'>> {
  const row = await findNodeDetails(app, team.id, nodeId)
  if (!row) throw notFound(nodeId)
  const { available, reason } = await localAgents.availability()
  // The command contains the token that lets an agent act for this node, so that only users who may create one see it.
  const maySetUp = isAllowed(team.role, 'nodes.edit') && (!actor.grant || scopeCovers(actor.grant.scope, 'full'))
  return {
    ...toNode(row),
    install: maySetUp && row.install && !row.localAgent ? describeInstall(app, row, row.install) : null,
    agentUpdate: await describeUpdate(app, nodeId),
    localAgent: {
      available,
      reason,
      running: localAgents.isRunning(row.id),
      loopbackOnly: isLoopbackOnly(app.config),
      lastEnd: localAgents.lastEnd(row.id) ?? null,
    },
  }
}

export async function createNode(
  app: App,
  { team, actor }: Caller,
  body: Body<'nodes.create'>,
): Promise<ResponseInput<'nodes.create'>> {
  const row = await inTransaction(app.database, async (queries) => {
    const inserted = await insertNode(queries, team.id, getValues(body, actor))
    await recordTeamEvent(app, queries, {
      type: 'node-added',
      key: `node-added ${inserted.id}`,
      teamId: team.id,
      at: new Date().toISOString(),
      nodeId: inserted.id,
      nodeName: inserted.name,
      by: actor.name,
    })
    return inserted
  })
  nodeChanged(app, { teamId: team.id, nodeId: row.id }, 'unreachable')
  return toNode(row)
}

export async function updateNode(
  app: App,
  { team, actor }: Caller,
  nodeId: string,
  body: Body<'nodes.update'>,
): Promise<void> {
  if (!(await updateNodeRow(app, team.id, nodeId, getValues(body, actor)))) throw notFound(nodeId)
  nodeChanged(app, { teamId: team.id, nodeId })
}

/**
 * The agent of a deleted node is stopped and deletes its token. Its containers stay, and another agent of the team on
 * the same engine may manage them.
 */
export async function deleteNode(app: App, localAgents: LocalAgents, { team }: Caller, nodeId: string): Promise<void> {
  await inTransaction(app.database, async (queries) => {
    if (!(await lockNode(queries, team.id, nodeId))) throw notFound(nodeId)
    if (await hasDeployments(queries, nodeId))
      throw new CruxError('preconditionFailed', {
        property: 'id',
        value: nodeId,
        description: 'This node has deployments: delete them first.',
      })
    const environments = await listEnvironmentNames(queries, nodeId)
    if (environments.length > 0)
      throw new CruxError('preconditionFailed', {
        property: 'id',
        value: nodeId,
        description: `Environments of packages are on this node: ${listNames(environments)}. Move or delete them first.`,
      })
    await deleteNodeRow(queries, nodeId)
    await recordDeletedNode(queries, team.id, nodeId)
  })
  app.log.info({ nodeId, teamId: team.id }, 'node deleted')
  app.bus.publish({ type: 'node.close', nodeId, reason: 'token-revoked' })
  nodeChanged(app, { teamId: team.id, nodeId })
  await localAgents.dismiss(nodeId)
}

export async function createInstallScript(
  app: App,
  { team, actor }: Caller,
  nodeId: string,
  body: Body<'nodes.create-script'>,
): Promise<ResponseInput<'nodes.create-script'>> {
  const row = await findNodeDetails(app, team.id, nodeId)
  if (!row) throw notFound(nodeId)
  if (row.linkServer || row.hasToken) {
    throw new CruxError('alreadyExists', {
      property: 'id',
      value: nodeId,
      description: row.linkServer
        ? 'The agent of this node is connected.'
        : 'This node has an agent that is away: revoke its token to install another one.',
    })
  }
  const { rootPath, dagentTraefik, workloadName, namespaces, scriptType, type } = body
  // Existing clients expect the same script until it is discarded or has expired.
  if (row.install && row.install.scriptType === scriptType && row.type === type)
    return describeInstall(app, row, row.install)
  const options: InstallOptions =
    type === 'k8s' ? { workloadName, namespaces } : { rootPath, dagentTraefik, workloadName }
  if (type === 'k8s') checkKubernetesInstall(body)
  if (row.type !== type) await changeType(app, row, type)
  const { install } = await issueInstallToken(app, nodeId, actor.id, { scriptType, options })
  nodeChanged(app, { teamId: team.id, nodeId })
  return describeInstall(app, { ...row, type }, install)
}

/** @throws CruxError invalidArgument for a script that a cluster could not run */
function checkKubernetesInstall({ scriptType, workloadName }: Body<'nodes.create-script'>): void {
  if (scriptType !== 'shell')
    throw new CruxError('invalidArgument', {
      property: 'scriptType',
      value: scriptType,
      description:
        'The script for a cluster is a shell script: on Windows, download the manifest and apply it with kubectl.',
    })
  if (workloadName && (!patterns.dnsLabel.test(workloadName) || isClusterNamespace(workloadName)))
    throw new CruxError('invalidArgument', {
      property: 'workloadName',
      value: workloadName,
      description: 'The namespace of the agent has lower-case letters, digits and dashes, and is none of the cluster.',
    })
}

/** Deployments were made for one kind of engine: on the other one they would start from nothing, beside what runs. */
async function changeType(app: App, { id, inUse }: { id: string; inUse: boolean }, type: NodeType): Promise<void> {
  if (inUse)
    throw new CruxError('preconditionFailed', {
      property: 'type',
      value: type,
      description: 'This node has deployments or environments of another engine: create a new node instead.',
    })
  await setNodeType(app, id, type)
}

export async function discardInstallScript(app: App, { team }: Caller, nodeId: string): Promise<void> {
  await requireNode(app, team, nodeId)
  const install = await deleteInstall(app, nodeId)
  if (!install || install.exchangedAt || install.expiresAt < new Date()) {
    throw new CruxError('notFound', { property: 'installer', description: 'There is no install script to delete.' })
  }
  nodeChanged(app, { teamId: team.id, nodeId })
}

/** Invalidates the token for every call of the agent; its link and streams end when the processes receive the event. */
export async function revokeToken(
  app: App,
  localAgents: LocalAgents,
  { team, actor }: Caller,
  nodeId: string,
): Promise<void> {
  await requireNode(app, team, nodeId)
  if (!(await deleteTokens(app, nodeId)))
    throw new CruxError('notFound', { property: 'token', description: 'This node has no token.' })
  await nodeKicked(app, { teamId: team.id, nodeId }, 'revoke-token', actor)
  await localAgents.dismiss(nodeId)
}

export async function kickNode(
  app: App,
  localAgents: LocalAgents,
  { team, actor }: Caller,
  nodeId: string,
): Promise<void> {
  await requireNode(app, team, nodeId)
  await cancelUpdate(app, nodeId)
  await nodeKicked(app, { teamId: team.id, nodeId }, 'user-kick', actor)
  await localAgents.dismiss(nodeId)
}

export async function startLocalAgent(
  app: App,
  localAgents: LocalAgents,
  { team, actor }: Caller,
  nodeId: string,
): Promise<void> {
  const row = await findNodeDetails(app, team.id, nodeId)
  if (!row) throw notFound(nodeId)
  if (row.type !== 'docker') await changeType(app, row, 'docker')
  await localAgents.launch({ id: row.id, teamId: team.id, linked: row.linkServer !== null }, actor.id)
}

export async function listNodeEvents(
  app: App,
  { team }: Caller,
  nodeId: string,
  query: Query<'nodes.audit'>,
): Promise<ResponseInput<'nodes.audit'>> {
  await requireNode(app, team, nodeId)
  return findNodeEvents(app, nodeId, query)
}

/** @throws CruxError notFound, the same for a node of another team */
export async function requireNode(app: App, team: { id: string }, nodeId: string): Promise<NodeRow> {
  const row = await findNode(app, team.id, nodeId)
  if (!row) throw notFound(nodeId)
  return row
}

/**
 * For commands that change containers or images: between two agents, neither would execute them reliably.
 *
 * @throws CruxError notFound, or preconditionFailed `id` while the agent is being updated
 */
export async function requireNodeForCommand(app: App, team: { id: string }, nodeId: string): Promise<NodeRow> {
  const row = await requireNode(app, team, nodeId)
  if (!(await isUpdating(app, nodeId))) return row
  const verdict = nodeTakesCommands({ name: row.name, status: 'updating' })
  if (verdict.allowed) return row
  throw new CruxError('preconditionFailed', { property: 'id', value: nodeId, description: `${verdict.reason}.` })
}

const namesShown = 10
const listNames = (names: readonly string[]): string =>
  names.length > namesShown ? `${names.slice(0, namesShown).join(', ')} and more` : names.join(', ')

const notFound = (nodeId: string) =>
  new CruxError('notFound', { property: 'id', value: nodeId, description: 'There is no such node.' })

const getValues = (body: Body<'nodes.create'>, actor: Actor) => ({
  ...(body.cluster && { cluster: body.cluster }),
  name: body.name,
  description: body.description ?? null,
  icon: body.icon ?? null,
  updatedBy: actor.id,
})

function describeInstall(
  app: App,
  row: NodeRow & { teamSlug: string },
  install: InstallRow,
): ResponseInput<'nodes.create-script'> {
  const { scriptType, expiresAt: expireAt } = install
  const token = openInstallToken(app, install)
  if (row.type === 'k8s') {
    const values = clusterValues(app.config, row, { token, install })
    const { agentNamespace: namespace, image, imageIsPulled } = values
    return {
      command: installCommand(scriptType, values),
      script: kubernetesScript(values),
      expireAt,
      type: row.type,
      scriptType,
      manifest: { yaml: agentManifest(values), namespace, image, imageIsPulled },
    }
  }
  const values = scriptValues(app.config, row, token, install.options)
  return {
    command: installCommand(scriptType, values),
    script: installScript(scriptType, values),
    expireAt,
    type: row.type,
    scriptType,
  }
}

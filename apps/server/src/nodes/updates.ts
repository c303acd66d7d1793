import { randomUUID } from 'node:crypto'
import { type AgentInfo, UpdateState } from '@crux/agent-protocol'
import { CruxError } from '@crux/contract'
import { type Caller, hashToken, makeToken } from '../access/index.ts'
import { type Command, isSupported, minimumVersion, serverVersion } from '../agent-links/index.ts'
import type { App } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import { agentUpdateCompleted, agentUpdateFailed, agentUpdateStarted } from './events.ts'
import { isOutOfDate, lockNodeRow, type NodeRow } from './store.ts'
import {
  completeUpdate,
  failOverdueUpdates,
  failUpdate,
  findUpdate,
  findUpdateByToken,
  hasOpenRelease,
  insertUpdate,
  markClosed,
  markReady,
  type UpdateRow,
} from './update-store.ts'

/** The states and transitions of an update are described in docs/agent-update.md. */

const timeoutMs = 300_000
const location = (nodeId: string) => ({ column: 'node_update.token', row: nodeId }) as const

/** The version that an update leads to, as the event names it. */
const getTag = (image: string | null) => (image ? image.slice(image.lastIndexOf('/') + 1) : serverVersion)

/**
 * Starts the update of an agent. The process with the node's link sends the command when it hears of the change.
 *
 * @throws CruxError notFound `agent` (offline), preconditionFailed `id` (in progress already, or not updatable) or
 *   `deployments` (a release is in progress)
 */
export async function updateAgent(app: App, { team, actor }: Caller, nodeId: string): Promise<void> {
  const token = makeToken()
  const image = app.config.agentImage ?? null
  const fromVersion = await inTransaction(app.database, async (queries) => {
    const row = await lockNodeRow(queries, team.id, nodeId)
    if (!row) throw new CruxError('notFound', { property: 'id', value: nodeId, description: 'There is no such node.' })
    const current = await findUpdate(queries, nodeId)
    const refusal = findRefusal(row, current)
    if (refusal) throw refusal
    if (await hasOpenRelease(queries, nodeId)) {
      throw new CruxError('preconditionFailed', {
        property: 'deployments',
        value: nodeId,
        description: `A deployment on ${row.name} is in progress: wait until it has ended, then update the agent.`,
      })
    }
    await insertUpdate(queries, {
      nodeId,
      id: randomUUID(),
      tokenHash: hashToken(token),
      token: app.cipher.encrypt(token, location(nodeId)),
      image,
      fromVersion: row.agentVersion ?? '',
      startedById: actor.id,
      startedByName: actor.name,
      timeoutMs,
    })
    return row.agentVersion ?? ''
  })
  await agentUpdateStarted(app, { teamId: team.id, nodeId }, { fromVersion, tag: getTag(image) })
}

function findRefusal(row: NodeRow, current: UpdateRow | undefined): CruxError | undefined {
  const refuse = (description: string) =>
    new CruxError('preconditionFailed', { property: 'id', value: row.id, description })
  if (current && !current.endedAt) return refuse(`The agent of ${row.name} is being updated already.`)
  if (!row.linkServer)
    return new CruxError('notFound', { property: 'agent', description: 'The agent of this node is not connected.' })
  if (row.localAgent)
    return refuse(`Crux runs the agent of ${row.name} by itself: it is updated together with Crux on this machine.`)
  if (!row.agentUpdatable)
    return refuse(
      `The agent of ${row.name} cannot replace itself, because it does not run in a container of its own, or is too old for that: update it where it was started, or revoke its token and install it again.`,
    )
  if (!isOutOfDate(row)) return refuse(`The agent of ${row.name} has the version of this server, ${serverVersion}.`)
  return undefined
}

/** The update of a node in progress, with the command for the old agent while the new one has not been reached. */
export async function findUpdateInProgress(
  app: App,
  nodeId: string,
): Promise<{ id: string; command?: Command } | undefined> {
  const update = await findUpdate(app.database.pool, nodeId)
  if (!update || update.endedAt) return undefined
  const { id } = update
  if (update.state !== 'preparing' || update.token === null) return { id }
  const token = app.cipher.decrypt(update.token, location(nodeId))
  return {
    id,
    command: { case: 'updateAgent', value: { updateId: update.id, token, image: update.image ?? '' } },
  }
}

/** What the old agent reports. @returns the state after the report */
export async function reportUpdate(
  app: App,
  { nodeId, id }: { nodeId: string; id: string },
  report: { closed: boolean; restarted: boolean; error: string },
): Promise<UpdateState> {
  if (report.error) await endFailed(app, { nodeId, id }, report.error)
  else if (report.restarted)
    await endFailed(app, { nodeId, id, unlessClosed: true }, 'The agent was started again during the update.')
  else if (report.closed) await markClosed(app.database.pool, nodeId, id)
  const update = await findUpdate(app.database.pool, nodeId)
  return update?.id === id ? states[update.state] : UpdateState.FAILED
}

/** The new agent asks whether it may connect. @returns undefined for a token that is not valid for this update */
export async function takeOver(
  app: App,
  { id, tokenHash, info, previousEnded }: { id: string; tokenHash: string; info: AgentInfo; previousEnded: boolean },
): Promise<UpdateState | undefined> {
  const { pool } = app.database
  const found = await findUpdateByToken(pool, id, tokenHash)
  if (!found) return undefined
  if (!found.endedAt && !isSupported(info.version)) {
    const error = `The new agent has version ${info.version}, and this server needs at least ${minimumVersion}: check CRUX_AGENT_IMAGE.`
    await endFailed(app, { nodeId: found.nodeId, id }, error)
    return UpdateState.FAILED
  }
  await markReady(pool, id, tokenHash, previousEnded)
  const update = await findUpdateByToken(pool, id, tokenHash)
  return update && states[update.state]
}

/** Makes the token of an update the connection token of its node, if the update has got that far. */
export async function completeWithToken(app: App, token: string, info: AgentInfo): Promise<void> {
  if (!isSupported(info.version)) return
  const ended = await completeUpdate(app.database.pool, info.nodeId, hashToken(token))
  if (ended) await agentUpdateCompleted(app, ended, info.version)
}

/** A disconnected agent does not update. */
export const cancelUpdate = (app: App, nodeId: string) =>
  endFailed(app, { nodeId }, 'The agent was disconnected during the update.')

export async function failOverdue(app: App): Promise<void> {
  const error = `The new agent did not connect within ${timeoutMs / 1_000} seconds. The previous agent continues.`
  for (const ended of await failOverdueUpdates(app.database.pool, error)) await agentUpdateFailed(app, ended)
}

async function endFailed(app: App, where: Parameters<typeof failUpdate>[1], error: string): Promise<void> {
  const ended = await failUpdate(app.database.pool, where, error)
  if (ended) await agentUpdateFailed(app, ended)
}

const states: Record<UpdateRow['state'], UpdateState> = {
  preparing: UpdateState.PREPARING,
  ready: UpdateState.READY,
  closed: UpdateState.CLOSED,
  completed: UpdateState.COMPLETED,
  failed: UpdateState.FAILED,
}

/** Whether an update of the agent is in progress. The database says so to every server process at the same moment. */
export async function isUpdating(app: App, nodeId: string): Promise<boolean> {
  const update = await findUpdate(app.database.pool, nodeId)
  return update !== undefined && update.endedAt === null
}

/** The update as the node's page shows it. */
export async function describeUpdate(app: App, nodeId: string) {
  const update = await findUpdate(app.database.pool, nodeId)
  if (!update || update.state === 'completed') return null
  const { startedAt, startedByName, deadlineAt, fromVersion, state, error } = update
  return { startedAt, startedBy: startedByName, deadlineAt, fromVersion, state, error }
}

import { Operation } from '@crux/agent-protocol'
import { type Answer, type Container, type ContainerOperation, CruxError } from '@crux/contract'
import type { App } from '../context.ts'
import type { CommandResult } from '../gateway/links.ts'
import type { Actor } from '../http/handlers.ts'
import { requireNode } from '../nodes/actions.ts'
import { containerCommanded } from '../nodes/events.ts'
import { toContainer, toLogText } from './container-view.ts'

/** A container by the path of its address; the prefix `_` stands for none (backend.md 2.6). */
export type Place = { nodeId: string; prefix: string }
type Team = { id: string }
type Ref = { prefix: string; name: string }

/** The engine waits 10 s for a container to stop by itself, and a restart is more than that. */
const changeTimeoutMs = 60_000
const readTimeoutMs = 15_000

const operations: Record<ContainerOperation, Operation> = {
  start: Operation.START,
  stop: Operation.STOP,
  restart: Operation.RESTART,
}

export const prefixOf = (segment: string): string => (segment === '_' ? '' : segment)

export async function listContainers(app: App, team: Team, { nodeId, prefix }: Place): Promise<Container[]> {
  await requireNode(app, team, nodeId)
  const { value } = await ask(app, nodeId, 'containers', {
    case: 'listContainers',
    value: prefix ? { prefix } : {},
  })
  return value.containers.map(toContainer).filter((container) => container.id.prefix === prefix)
}

/** Waits for the engine's answer: a refusal is said, not swallowed. */
export async function operateContainer(
  app: App,
  team: Team,
  actor: Actor,
  nodeId: string,
  container: Ref,
  operation: ContainerOperation,
): Promise<void> {
  await requireNode(app, team, nodeId)
  await ask(app, nodeId, 'done', {
    case: 'operateContainer',
    value: { container, operation: operations[operation] },
  })
  await containerCommanded(app, { teamId: team.id, nodeId }, { container, operation }, person(actor))
}

export async function deleteContainer(
  app: App,
  team: Team,
  actor: Actor,
  nodeId: string,
  container: Ref,
): Promise<void> {
  await requireNode(app, team, nodeId)
  await ask(app, nodeId, 'done', { case: 'deleteContainers', value: { container } })
  await containerCommanded(app, { teamId: team.id, nodeId }, { container, operation: 'deleteContainer' }, person(actor))
}

/** Only ours: those that the labels give to this team and node. Data, networks and images stay. */
export async function deletePrefix(app: App, team: Team, actor: Actor, { nodeId, prefix }: Place): Promise<void> {
  if (!prefix) {
    throw new CruxError('invalidArgument', {
      property: 'prefix',
      value: '_',
      description: 'Containers without a prefix are deleted one by one.',
    })
  }
  const found = await listContainers(app, team, { nodeId, prefix })
  const ours = found.filter(({ labels }) => labels['dev.crux.team'] === team.id && labels['dev.crux.node'] === nodeId)
  await Promise.all(
    ours.map(({ id, labels }) =>
      ask(app, nodeId, 'done', {
        case: 'deleteContainers',
        value: {
          container: id,
          owner: { teamId: team.id, projectId: labels['dev.crux.project'] ?? '', nodeId, prefix },
        },
      }),
    ),
  )
  await containerCommanded(app, { teamId: team.id, nodeId }, { prefix, operation: 'deleteContainers' }, person(actor))
}

export async function inspectContainer(
  app: App,
  team: Team,
  nodeId: string,
  container: Ref,
): Promise<Answer<'containers.inspect'>> {
  await requireNode(app, team, nodeId)
  const { value } = await ask(app, nodeId, 'inspection', { case: 'inspectContainer', value: { container } })
  return { inspection: value.json }
}

export async function readLog(
  app: App,
  team: Team,
  nodeId: string,
  container: Ref,
  take: number,
): Promise<Answer<'containers.log'>> {
  await requireNode(app, team, nodeId)
  const { value } = await ask(app, nodeId, 'log', { case: 'readLog', value: { container, take } })
  return value.lines.map(toLogText)
}

/** Sends a command and insists on the kind of answer that belongs to it. */
async function ask<C extends CommandResult['case']>(
  app: App,
  nodeId: string,
  expected: C,
  command: Parameters<App['links']['request']>[1],
): Promise<Extract<CommandResult, { case: C }>> {
  const changes = command.case === 'operateContainer' || command.case === 'deleteContainers'
  const result = await app.links.request(nodeId, command, changes ? changeTimeoutMs : readTimeoutMs)
  if (result.case !== expected) throw new Error(`the agent answered ${result.case} where ${expected} was asked for`)
  return result as Extract<CommandResult, { case: C }>
}

const person = (actor: Actor) => ({ id: actor.id, name: actor.name })

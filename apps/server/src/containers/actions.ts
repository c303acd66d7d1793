import { Operation } from '@crux/agent-protocol'
import { type Container, type ContainerOperation, CruxError, type ResponseInput } from '@crux/contract'
import type { Caller, TeamContext } from '../access/index.ts'
import { type CommandResult, unusableAnswer } from '../agent-links/index.ts'
import type { App } from '../context.ts'
import { containerCommanded, engineScope, requireNode, requireNodeForCommand } from '../nodes/index.ts'
import { toContainerView, toLogText, visibleContainer } from './container-view.ts'

/** A container by the path of its address; the prefix `_` means none. */
export type DeploymentTarget = { nodeId: string; prefix: string }
type Ref = { prefix: string; name: string }

/** The engine waits 10 s for a container to stop, and a restart takes longer than that. */
const changeTimeoutMs = 60_000
const readTimeoutMs = 15_000

const operations: Record<ContainerOperation, Operation> = {
  start: Operation.START,
  stop: Operation.STOP,
  restart: Operation.RESTART,
}

/** What a command of the team may access at this node. @throws CruxError notFound */
export async function getScope(app: App, team: Pick<TeamContext, 'id'>, nodeId: string) {
  await requireNode(app, team, nodeId)
  return engineScope(app, { teamId: team.id, nodeId })
}

/** What a command that changes containers may access. @throws CruxError as `requireNodeForCommand` */
async function getCommandScope(app: App, team: Pick<TeamContext, 'id'>, nodeId: string) {
  await requireNodeForCommand(app, team, nodeId)
  return engineScope(app, { teamId: team.id, nodeId })
}

export const getPrefix = (segment: string): string => (segment === '_' ? '' : segment)

/** Without a prefix: all containers of the node that the caller may see. */
export async function listContainers(
  app: App,
  { team }: Caller,
  { nodeId, prefix }: DeploymentTarget,
): Promise<Container[]> {
  const scope = await getScope(app, team, nodeId)
  const { value } = await ask(app, nodeId, 'containers', {
    case: 'listContainers',
    value: prefix ? { prefix, scope } : { scope },
  })
  return value.containers.flatMap((container) => visibleContainer(toContainerView(container), team.role, prefix) ?? [])
}

/** Waits for the engine's answer, so that a refusal is reported. */
export async function operateContainer(
  app: App,
  { team, actor }: Caller,
  nodeId: string,
  container: Ref,
  operation: ContainerOperation,
): Promise<void> {
  const scope = await getCommandScope(app, team, nodeId)
  await ask(app, nodeId, 'done', {
    case: 'operateContainer',
    value: { container, operation: operations[operation], scope },
  })
  await containerCommanded(app, { teamId: team.id, nodeId }, { container, operation }, actor)
}

export async function deleteContainer(
  app: App,
  { team, actor }: Caller,
  nodeId: string,
  container: Ref,
): Promise<void> {
  const scope = await getCommandScope(app, team, nodeId)
  await ask(app, nodeId, 'done', { case: 'deleteContainers', value: { container, scope } })
  await containerCommanded(app, { teamId: team.id, nodeId }, { container, operation: 'deleteContainer' }, actor)
}

/** Only the team's own, as the agent identifies them by their labels. Data, networks and images stay. */
export async function deletePrefix(
  app: App,
  { team, actor }: Caller,
  { nodeId, prefix }: DeploymentTarget,
): Promise<void> {
  if (!prefix) {
    throw new CruxError('invalidArgument', {
      property: 'prefix',
      value: '_',
      description: 'Containers without a prefix are deleted one by one.',
    })
  }
  const scope = await getCommandScope(app, team, nodeId)
  const found = await listContainers(app, { team, actor }, { nodeId, prefix })
  await Promise.all(
    found.map(({ id }) => ask(app, nodeId, 'done', { case: 'deleteContainers', value: { container: id, scope } })),
  )
  await containerCommanded(app, { teamId: team.id, nodeId }, { prefix, operation: 'deleteContainers' }, actor)
}

export async function inspectContainer(
  app: App,
  { team }: Caller,
  nodeId: string,
  container: Ref,
): Promise<ResponseInput<'containers.inspect'>> {
  const scope = await getScope(app, team, nodeId)
  const { value } = await ask(app, nodeId, 'inspection', { case: 'inspectContainer', value: { container, scope } })
  return { inspection: value.json }
}

export async function readLog(
  app: App,
  { team }: Caller,
  nodeId: string,
  container: Ref,
  { pod, take }: { take: number; pod?: string | undefined },
): Promise<ResponseInput<'containers.log'>> {
  const scope = await getScope(app, team, nodeId)
  const { value } = await ask(app, nodeId, 'log', {
    case: 'readLog',
    value: { container, take, scope, pod: pod ?? '' },
  })
  return value.lines.map(toLogText)
}

/** Sends a command and requires the kind of answer that belongs to it. */
async function ask<C extends CommandResult['case']>(
  app: App,
  nodeId: string,
  expected: C,
  command: Parameters<App['links']['request']>[1],
): Promise<Extract<CommandResult, { case: C }>> {
  const changes = command.case === 'operateContainer' || command.case === 'deleteContainers'
  const result = await app.links.request(nodeId, command, changes ? changeTimeoutMs : readTimeoutMs)
  if (!isAnswer(result, expected)) throw unusableAnswer()
  return result
}

const isAnswer = <C extends CommandResult['case']>(
  result: CommandResult,
  expected: C,
): result is Extract<CommandResult, { case: C }> => result.case === expected

import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type { ConnectResponse, ContainerRef, Scope } from '@crux/agent-protocol'
import type { EngineScope } from '@crux/rules'
import type { Engine, LogChunkLine } from '../engines/engine.ts'
import { EngineError, isEngineError } from '../errors.ts'
import { getLastLines } from '../journal/last-lines.ts'
import type { AgentClient } from '../link/client.ts'
import type { Credentials } from '../link/credentials.ts'
import type { NodeScope } from '../scope/node-scope.ts'
import { findInScope, inScope, requireScope } from '../scope/scope.ts'

export type Command = ConnectResponse['command']
export type CommandOf<C extends Command['case']> = Extract<Command, { case: C }> extends { value: infer V } ? V : never
export type CommandResult = Parameters<AgentClient['respond']>[0]['result']

/** The commands that the agent answers with one message. */
type AnsweredCase =
  | 'operateContainer'
  | 'deleteContainers'
  | 'listContainers'
  | 'inspectContainer'
  | 'listImages'
  | 'findPortHolders'
  | 'findDrift'
  | 'listMachines'
  | 'findPrefixData'
  | 'deletePrefixData'
  | 'removeImages'
  | 'readLog'
  | 'rotateToken'
type Values = { [C in AnsweredCase]: CommandOf<C> }
type AnsweredCommand<C extends AnsweredCase = AnsweredCase> = { [K in C]: { case: K; value: Values[K] } }[C]
type Answers = { [C in AnsweredCase]: (value: Values[C]) => Promise<CommandResult> }

export interface AnswerContext {
  engine: Engine
  credentials: Credentials
  scope: Pick<NodeScope, 'learn'>
}

const logTakeMax = 1_000
const done = { case: 'done', value: {} } as const

export function createAnswers(context: AnswerContext): Answers {
  const { engine, credentials } = context
  const getScope = (given: Scope | undefined) => learnScope(context, given)
  const getId = async ({ container, scope }: { container?: ContainerRef; scope?: Scope }) => {
    if (!container) throw new EngineError('refused', 'The command names no container')
    return (await findInScope(engine, container, getScope(scope))).id
  }
  return {
    async operateContainer(value) {
      await engine.operate(await getId(value), value.operation)
      return done
    },
    async deleteContainers({ container, owner, scope: given }) {
      const scope = getScope(given)
      if (container) await deleteContainer(engine, container, scope)
      else if (!owner) throw new EngineError('refused', 'The command names neither a container nor an owner')
      else if (owner.teamId !== scope.teamId || owner.nodeId !== scope.nodeId)
        throw new EngineError('refused', 'The owner is not that of the scope')
      else await engine.removeAllOf({ ...owner, deletedNodeIds: scope.deletedNodeIds })
      return done
    },
    async listContainers({ prefix, scope: given }) {
      const scope = getScope(given)
      const listed = await engine.list(prefix === undefined ? {} : { prefix })
      return { case: 'containers', value: { containers: inScope(listed, scope, prefix) } }
    },
    async inspectContainer(value) {
      return { case: 'inspection', value: { json: await engine.inspect(await getId(value)) } }
    },
    async listImages({ scope }) {
      const images = await engine.listImages(getScope(scope))
      return {
        case: 'images',
        value: { images: images.map((image) => ({ ...image, createdAt: timestampFromDate(image.createdAt) })) },
      }
    },
    async findPortHolders(value) {
      return { case: 'portHolders', value: { holders: await engine.findPortHolders(value) } }
    },
    async findDrift({ release, scope: given }) {
      const scope = getScope(given)
      const owner = release?.owner
      if (!release || owner?.teamId !== scope.teamId || owner.nodeId !== scope.nodeId)
        throw new EngineError('refused', 'The owner of the release is not that of the scope')
      return { case: 'drift', value: { objects: await engine.findDrift(release) } }
    },
    async listMachines({ scope, search, skip, take }) {
      getScope(scope)
      return { case: 'machines', value: await engine.listMachines({ search, skip, take }) }
    },
    async findPrefixData({ prefix, scope }) {
      return { case: 'prefixData', value: await engine.findPrefixData({ prefix, scope: getScope(scope) }) }
    },
    async deletePrefixData({ claims, namespace, prefix, scope }) {
      const target = { prefix, scope: getScope(scope) }
      return { case: 'deletedPrefixData', value: await engine.deletePrefixData(target, { claims, namespace }) }
    },
    async removeImages({ imageIds }) {
      return { case: 'removedImages', value: await engine.removeImages(imageIds) }
    },
    async readLog(value) {
      const lines = await lastLines(engine, await getId(value), {
        take: Math.min(value.take, logTakeMax),
        pod: value.pod || undefined,
      })
      return { case: 'log', value: { lines: lines.map(lineMessage) } }
    },
    async rotateToken({ token }) {
      await credentials.rotate(token)
      return done
    },
  }
}

export function isAnswered(answers: Answers, command: Command): command is AnsweredCommand {
  return command.case !== undefined && Object.hasOwn(answers, command.case)
}

export function toAnswer<C extends AnsweredCase>(
  answers: Answers,
  command: AnsweredCommand<C>,
): Promise<CommandResult> {
  return answers[command.case](command.value)
}

/** @returns the scope of a command, after the agent has learned which deleted nodes it includes */
export function learnScope(context: Pick<AnswerContext, 'credentials' | 'scope'>, given: Scope | undefined) {
  const scope = requireScope(given, context.credentials.nodeId())
  context.scope.learn(scope)
  return scope
}

/** A container that does not exist is no error; a container outside of the scope is. */
async function deleteContainer(engine: Engine, ref: ContainerRef, scope: EngineScope): Promise<void> {
  if ((await engine.find(ref)) === undefined) return
  const { id } = await findInScope(engine, ref, scope)
  try {
    await engine.remove(id)
  } catch (error) {
    if (!isEngineError(error, 'not-found')) throw error
  }
}

async function lastLines(
  engine: Engine,
  id: string,
  request: { take: number; pod: string | undefined },
): Promise<LogChunkLine[]> {
  let lines: LogChunkLine[] = []
  for await (const chunk of engine.readLog(id, { ...request, follow: false }))
    lines = getLastLines([...lines, ...chunk])
  return lines
}

export function lineMessage({ seconds, nanos, stderr, text }: LogChunkLine) {
  return { at: { seconds, nanos }, stderr, text }
}

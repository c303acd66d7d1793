import type { ConnectResponse, Container, ContainerRef, Scope } from '@crux/agent-protocol'
import { CloseReason, FailureCode } from '@crux/agent-protocol'
import type { EngineScope } from '@crux/rules'
import type { Logger } from '@crux/service-kit'
import type { Driver, LogChunkLine } from '../engines/docker/containers/driver.ts'
import type { Gate } from '../engines/docker/gate/gate.ts'
import { findPortHolders } from '../engines/docker/gate/port-holders.ts'
import type { ImageClaims } from '../engines/docker/images/claims.ts'
import type { FetchedImages } from '../engines/docker/images/fetched.ts'
import { imageList, removeImages } from '../engines/docker/images/image-store.ts'
import type { PrefixNetworks } from '../engines/docker/networks/prefix-networks.ts'
import { isOwnedBy, ownerOf } from '../engines/labels.ts'
import { EngineError, type EngineErrorKind, isEngineError } from '../errors/engine-error.ts'
import { messageOf } from '../errors/message-of.ts'
import { lastLinesOf } from '../journal/last-lines.ts'
import type { AgentClient } from '../link/client.ts'
import type { Credentials } from '../link/credentials.ts'
import { keepOpen } from '../link/keep-open.ts'
import type { LinkEnd } from '../link/link.ts'
import type { Releases } from '../releases/releases.ts'
import type { NodeScope } from '../scope/node-scope.ts'
import { describeInScope, findInScope, isListed, requireScope } from '../scope/scope.ts'
import { followLog, wholeLog } from '../streams/follow-log.ts'
import { watchContainers } from '../streams/watch.ts'

export interface CommandContext {
  driver: Driver
  client: AgentClient
  credentials: Credentials
  releases: Releases
  networks: PrefixNetworks
  gate: Gate
  scope: Pick<NodeScope, 'learn'>
  images: { claims: ImageClaims; fetched: FetchedImages }
  log: Logger
}

type Command = ConnectResponse['command']
type CommandOf<C extends Command['case']> = Extract<Command, { case: C }> extends { value: infer V } ? V : never

/** For a log that is answered in one message. */
const logTakeMax = 1_000
/** For a log that is followed, in batches. */
const followTakeMax = 100_000
const rememberedCommands = 1_000

/**
 * Executes the server's commands in parallel, so that a slow command delays no other. A repeated id is not executed again. The streams of
 * one link end with it: the server then requests them again.
 */
export function createCommands(context: CommandContext) {
  const { client, driver, credentials, gate, images, log, networks, releases } = context
  const seen = new Set<string>()

  function isNew(id: string): boolean {
    if (seen.has(id)) return false
    seen.add(id)
    const [oldest] = seen
    if (seen.size > rememberedCommands && oldest !== undefined) seen.delete(oldest)
    return true
  }

  type Result = Parameters<AgentClient['respond']>[0]['result']
  async function answer(commandId: string, work: () => Promise<Result>): Promise<void> {
    let result: Result
    try {
      result = await work()
    } catch (error) {
      log.info({ reason: messageOf(error) }, 'a command failed')
      result = { case: 'failure', value: failureOf(error) }
    }
    await client.respond({ commandId, result })
  }

  function scopeOf(given: Scope | undefined): EngineScope {
    const scope = requireScope(given, credentials.nodeId())
    context.scope.learn(scope)
    return scope
  }

  async function idOf({ container, scope }: { container?: ContainerRef; scope?: Scope }): Promise<string> {
    if (!container) throw new EngineError('refused', 'The command names no container')
    return findInScope(driver, container, scopeOf(scope))
  }

  async function deleteContainers(value: CommandOf<'deleteContainers'>): Promise<void> {
    const { container, owner } = value
    const scope = scopeOf(value.scope)
    if (container) return deleteContainer(container, scope)
    if (!owner) throw new EngineError('refused', 'The command names neither a container nor an owner')
    if (owner.teamId !== scope.teamId || owner.nodeId !== scope.nodeId)
      throw new EngineError('refused', 'The owner is not that of the scope')
    const { deletedNodeIds } = scope
    const owned = (await driver.engine.observeAll()).filter(({ labels }) =>
      isOwnedBy(labels, { ...owner, deletedNodeIds }),
    )
    const results = await Promise.allSettled(owned.map(({ id }) => driver.remove(id)))
    // The networks of a prefix are removed with its last container; a machine has room for few bridges.
    const owners = new Map(
      [owner, ...owned.flatMap(({ labels }) => ownerOf(labels) ?? [])].map((of) => [of.nodeId, of]),
    )
    for (const of of owners.values()) await networks.release(of)
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
  }

  /** A container that does not exist is no error; a container outside of the scope is. */
  async function deleteContainer(ref: ContainerRef, scope: EngineScope): Promise<void> {
    if ((await driver.find(ref)) === undefined) return
    const id = await findInScope(driver, ref, scope)
    try {
      const owner = ownerOf((await driver.engine.observe(id)).labels)
      await driver.remove(id)
      if (owner) await networks.release(owner)
    } catch (error) {
      if (!isEngineError(error, 'not-found')) throw error
    }
  }

  async function lastLines(value: CommandOf<'readLog'>): Promise<LogChunkLine[]> {
    const id = await idOf(value)
    let lines: LogChunkLine[] = []
    for await (const chunk of driver.readLog(id, { take: Math.min(value.take, logTakeMax), follow: false }))
      lines = lastLinesOf([...lines, ...chunk])
    return lines
  }

  /** One session per link. */
  return function openSession(signal: AbortSignal) {
    const streams = new Map<string, AbortController>()

    async function stream(id: string, run: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
      streams.get(id)?.abort()
      const controller = new AbortController()
      streams.set(id, controller)
      try {
        await run(AbortSignal.any([signal, controller.signal]))
      } catch (error) {
        if (!signal.aborted && !controller.signal.aborted)
          log.warn({ reason: messageOf(error) }, 'a stream ended early')
      } finally {
        if (streams.get(id) === controller) streams.delete(id)
      }
    }

    const watch = ({ streamId, prefix, scope: given }: CommandOf<'watchContainers'>) =>
      stream(streamId, (until) => {
        const scope = scopeOf(given)
        const updates = watchContainers(driver, { prefix, signal: until })
        return client.streamContainers(
          keepOpen(
            mapStream(updates, ({ full, containers }) => ({
              streamId,
              full,
              containers: inScope(containers, scope, prefix),
            })),
            { streamId },
          ),
          { signal: until },
        )
      })

    const follow = (value: CommandOf<'followLog'>) =>
      stream(value.streamId, (until) =>
        client.streamLog(
          keepOpen(logMessages(driver, value, credentials.nodeId(), until), { streamId: value.streamId }),
          { signal: until },
        ),
      )

    /** @returns why the link must end, for the commands that end it */
    return async function execute({ commandId, command }: ConnectResponse): Promise<LinkEnd | undefined> {
      if (commandId !== '' && !isNew(commandId)) return undefined
      switch (command.case) {
        case 'deploy':
          if (command.value.owner) context.scope.learn(command.value.owner)
          await releases.accept(command.value)
          return undefined
        case 'cancelDeployment':
          if (command.value.release) await releases.cancel(command.value.release)
          return undefined
        case 'operateContainer': {
          const { value } = command
          await answer(commandId, async () => {
            await driver.operate(await idOf(value), value.operation)
            return done
          })
          return undefined
        }
        case 'deleteContainers': {
          const { value } = command
          await answer(commandId, async () => {
            await deleteContainers(value)
            return done
          })
          return undefined
        }
        case 'preparePrefix':
          if (command.value.owner) await networks.prepare(command.value.owner)
          return undefined
        case 'releasePrefix':
          if (command.value.owner) await networks.release(command.value.owner)
          return undefined
        case 'listContainers': {
          const { prefix, scope: given } = command.value
          await answer(commandId, async () => {
            const scope = scopeOf(given)
            const listed = await driver.list(prefix === undefined ? {} : { prefix })
            return { case: 'containers', value: { containers: inScope(listed, scope, prefix) } }
          })
          return undefined
        }
        case 'inspectContainer': {
          const { value } = command
          await answer(commandId, async () => ({
            case: 'inspection',
            value: { json: await driver.inspect(await idOf(value)) },
          }))
          return undefined
        }
        case 'listImages': {
          const { scope } = command.value
          await answer(commandId, async () => ({
            case: 'images',
            value: await imageList(driver, images.fetched, scopeOf(scope)),
          }))
          return undefined
        }
        case 'findPortHolders': {
          const { value } = command
          await answer(commandId, async () => ({
            case: 'portHolders',
            value: { holders: await findPortHolders(driver, gate, value) },
          }))
          return undefined
        }
        case 'removeImages': {
          const { imageIds } = command.value
          await answer(commandId, async () => ({
            case: 'removedImages',
            value: await removeImages(driver, images, imageIds),
          }))
          return undefined
        }
        case 'readLog': {
          const { value } = command
          await answer(commandId, async () => ({
            case: 'log',
            value: { lines: (await lastLines(value)).map(lineMessage) },
          }))
          return undefined
        }
        case 'watchContainers':
          await watch(command.value)
          return undefined
        case 'followLog':
          await follow(command.value)
          return undefined
        case 'stopStream':
          streams.get(command.value.streamId)?.abort()
          return undefined
        case 'rotateToken': {
          const { token } = command.value
          await answer(commandId, async () => {
            await credentials.rotate(token)
            return done
          })
          return undefined
        }
        case 'closeLink':
          return endOf(command.value.reason)
        default:
          // A message without an id is no command: it keeps the stream open.
          if (commandId !== '') log.warn({ commandId }, 'the server sent a command that this agent does not know')
          return undefined
      }
    }
  }
}

const done = { case: 'done', value: {} } as const

function endOf(reason: CloseReason): LinkEnd {
  if (reason === CloseReason.TOKEN_REVOKED) return 'revoked'
  return reason === CloseReason.REPLACED ? 'replaced' : 'shutdown'
}

const failureCodes: Record<EngineErrorKind, FailureCode> = {
  away: FailureCode.ENGINE,
  'not-found': FailureCode.NOT_FOUND,
  conflict: FailureCode.CONFLICT,
  unauthorized: FailureCode.REFUSED,
  'registry-away': FailureCode.ENGINE,
  'port-taken': FailureCode.CONFLICT,
  refused: FailureCode.REFUSED,
  other: FailureCode.ENGINE,
}

function failureOf(error: unknown): { code: FailureCode; message: string } {
  return {
    code: error instanceof EngineError ? failureCodes[error.kind] : FailureCode.UNSPECIFIED,
    message: messageOf(error),
  }
}

function lineMessage({ seconds, nanos, stderr, text }: LogChunkLine) {
  return { at: { seconds, nanos }, stderr, text }
}

/** The containers of a list as the scope may see them. */
function inScope(containers: readonly Container[], scope: EngineScope, prefix: string | undefined): Container[] {
  return containers
    .map((container) => describeInScope(container, scope))
    .filter((container) => isListed(container, prefix))
}

async function* logMessages(driver: Driver, command: CommandOf<'followLog'>, nodeId: string, signal: AbortSignal) {
  const { streamId, container, since } = command
  try {
    if (!container) throw new EngineError('refused', 'The command names no container')
    const scope = requireScope(command.scope, nodeId)
    const take = Math.min(command.take, followTakeMax)
    const batches = command.whole
      ? wholeLog(driver, { container, scope, signal })
      : followLog(driver, { container, scope, take, since, signal })
    for await (const lines of batches) {
      yield { streamId, lines: lines.map(lineMessage) }
    }
  } catch (error) {
    if (!signal.aborted) yield { streamId, failure: failureOf(error) }
  }
}

async function* mapStream<A, B>(source: AsyncIterable<A>, convert: (value: A) => B): AsyncGenerator<B> {
  for await (const value of source) yield convert(value)
}

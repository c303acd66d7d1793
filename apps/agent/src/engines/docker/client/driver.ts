import { EngineKind, Operation } from '@crux/agent-protocol'
import { guarded, type Logger } from '@crux/service-kit'
import type Docker from 'dockerode'
import { EngineError } from '../../../errors/engine-error.ts'
import { redactorOf } from '../../../secrets/redaction.ts'
import type { LogChunkLine, LogRequest } from '../../engine.ts'
import { label } from '../../labels.ts'
import { nameOnEngine } from '../../names.ts'
import type { ContainerEngine } from '../containers/container-engine.ts'
import type { Driver } from '../containers/driver.ts'
import { openDocker } from './client.ts'
import { createContainerEngine, withGracePeriod } from './container-engine.ts'
import { translate, translating } from './errors.ts'
import { createEventHub } from './events.ts'
import { redactInspection, secretValues } from './inspection.ts'
import { createLiveView } from './live-view.ts'
import { LogParser } from './log-parser.ts'
import { findOwnContainer } from './own-container.ts'

/** A busy engine answers within this time, and a page must not wait longer. */
const heldDefaultMs = 5_000
/** The server waits a minute for an answer. */
const answerMs = 45_000

/**
 * @param dockerHost `unix:///path` or `tcp://host:port`
 * @throws EngineError `away` while the engine does not answer
 */
export async function openDockerDriver(
  dockerHost: string,
  log: Logger,
  { heldMs = heldDefaultMs }: { heldMs?: number } = {},
): Promise<Driver> {
  const { docker, close } = await translating('say its version', () => openDocker(dockerHost))
  const hub = createEventHub(docker, log, (id) => view.touch(id))
  const view = createLiveView({ list, inspect: inspectSoon }, hub)
  const raw = createContainerEngine(docker, { seesHost: dockerHost.startsWith('unix:') })
  const engine: ContainerEngine = {
    ...raw,
    async start(id) {
      try {
        await raw.start(id)
      } catch (error) {
        // The engine stores the reason on the container, and sends no event when the container shares another one's network.
        view.touch(id)
        throw error
      }
    },
  }

  async function inspectIfThere(id: string): Promise<Docker.ContainerInspectInfo | undefined> {
    try {
      return await docker.getContainer(id).inspect()
    } catch (error) {
      const known = translate(error, 'inspect the container')
      if (known.kind === 'not-found') return undefined
      throw known
    }
  }

  function list(options: Docker.ContainerListOptions): Promise<Docker.ContainerInfo[]> {
    return translating('list the containers', () => docker.listContainers({ all: true, ...options }))
  }

  /** Makes watchers inspect a locked container again, but less often than a slow engine answers. */
  function emitLater(id: string, labels: Record<string, string>): void {
    setTimeout(
      guarded('a held container', () => hub.emit({ kind: 'container', action: 'update', id, name: '', labels })),
      2 * heldMs,
    ).unref()
  }

  /** The engine may hold one container locked indefinitely: the others are shown all the same, and that one with the data of the list. */
  async function inspectSoon(id: string): Promise<Docker.ContainerInspectInfo | 'held' | undefined> {
    const inspecting = inspectIfThere(id)
    let timer: NodeJS.Timeout | undefined
    const held = new Promise<'held'>((resolve) => {
      timer = setTimeout(
        guarded('a held container', () => {
          resolve('held')
          inspecting.then(
            (info) => emitLater(id, info?.Config.Labels ?? {}),
            () => undefined,
          )
        }),
        heldMs,
      )
    })
    return Promise.race([inspecting, held]).finally(() => clearTimeout(timer))
  }

  /** A grace period may be longer than the server waits for an answer: events report the rest. */
  async function answeredSoon(work: Promise<void>): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      const giveUp = guarded('a stop that takes long', () => {
        work.catch((err: unknown) => log.warn({ err }, 'a container was not stopped'))
        resolve()
      })
      timer = setTimeout(giveUp, answerMs)
    })
    await Promise.race([work, late]).finally(() => clearTimeout(timer))
  }

  return {
    engine,
    async describe() {
      const info = (await translating('describe itself', () => docker.info())) as {
        OperatingSystem: string
        ServerVersion: string
        Architecture: string
      }
      return {
        kind: EngineKind.DOCKER,
        version: `Docker ${info.ServerVersion}`,
        operatingSystem: info.OperatingSystem,
        architecture: { x86_64: 'amd64', aarch64: 'arm64' }[info.Architecture] ?? info.Architecture,
        ownContainer: await findOwnContainer(docker),
      }
    },
    async list({ prefix }) {
      const all = await view.all()
      return prefix === undefined ? all : all.filter(({ labels }) => labels[label.prefix] === prefix)
    },
    view: view.some,
    async find(ref) {
      const { prefix } = ref
      const full = nameOnEngine(ref)
      // The name becomes part of a path of the engine's API.
      if (!containerName.test(full)) return undefined
      const found = await inspectIfThere(full)
      // The engine also resolves the beginning of an id: only the name counts here.
      if (found?.Name !== `/${full}`) return undefined
      const labels = found.Config.Labels ?? {}
      return prefix !== '' && labels[label.prefix] !== prefix ? undefined : { id: found.Id, labels }
    },
    async inspect(id) {
      const info = await translating('inspect the container', () => docker.getContainer(id).inspect())
      return JSON.stringify(redactInspection(info))
    },
    async operate(id, operation) {
      if (operation === Operation.START) return engine.start(id)
      if (operation === Operation.STOP) return answeredSoon(engine.stop(id))
      if (operation === Operation.RESTART) return answeredSoon(withGracePeriod(docker, id, 'restart'))
      throw new EngineError('refused', 'This agent does not know that operation')
    },
    async remove(id) {
      await answeredSoon(
        (async () => {
          await engine.stop(id).catch(ignoreMissing)
          await engine.discard(id)
        })(),
      )
    },
    readLog: (id, request) => readLog(docker, id, request),
    subscribe: hub.subscribe,
    close() {
      hub.close()
      close()
    },
  }
}

/** The names of containers that the engine itself accepts. */
const containerName = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/

async function* readLog(docker: Docker, id: string, request: LogRequest): AsyncGenerator<LogChunkLine[]> {
  const info = await translating('read the log of the container', () => docker.getContainer(id).inspect())
  const parser = new LogParser({ framed: !info.Config.Tty })
  const values = secretValues(info)
  const redact = redactorOf(values)
  // A program that prints its secrets would reveal them to all readers of its log.
  const shown = (lines: LogChunkLine[]) =>
    values.length === 0 ? lines : lines.map((line) => ({ ...line, text: redact(line.text) }))
  const stream = await openLog(docker, id, request)
  try {
    for await (const chunk of stream) {
      const lines = parser.push(chunk as Buffer)
      if (lines.length > 0) yield shown(lines)
    }
  } catch (error) {
    if (request.signal?.aborted) return
    throw translate(error, 'read the log of the container')
  } finally {
    if ('destroy' in stream && typeof stream.destroy === 'function') stream.destroy()
  }
  const rest = parser.end()
  if (rest.length > 0) yield shown(rest)
}

/** Does not use `container.logs`: without `follow` that call collects the whole log in memory first. */
function openLog(docker: Docker, id: string, request: LogRequest): Promise<NodeJS.ReadableStream> {
  const { since, take } = request
  const call = {
    path: `/containers/${id}/logs?`,
    method: 'GET',
    isStream: true,
    abortSignal: request.signal,
    statusCodes: { 200: true, 404: 'no such container', 409: 'not readable', 500: 'server error', 501: 'not readable' },
    options: {
      follow: request.follow,
      stdout: true,
      stderr: true,
      timestamps: true,
      tail: take === undefined ? 'all' : String(take),
      ...(since ? { since: `${since.seconds}.${String(since.nanos).padStart(9, '0')}` } : {}),
    },
  }
  return translating(
    'read the log of the container',
    () =>
      new Promise<NodeJS.ReadableStream>((resolve, reject) => {
        const answered = (error: unknown, stream: unknown) =>
          error ? reject(error) : resolve(stream as NodeJS.ReadableStream)
        // The types of docker-modem do not include abortSignal and text for status codes, its code does.
        docker.modem.dial(call as unknown as Parameters<Docker['modem']['dial']>[0], answered)
      }),
  )
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof EngineError && error.kind === 'not-found')) throw error
}
